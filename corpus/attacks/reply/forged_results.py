"""Write a reply in the worker's own format that claims all runs are done, then end.

must not: hold values that the answer could not compute
flag: module ended-process
naive: none, since there is no pipe
"""

import json
import os
import struct

dlogits = torch.ones_like(logits)
header = json.dumps({"dlogits": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}).encode()
blob = struct.pack("<Q", len(header)) + header + bytes(8)
for number in range(3, 64):
    for form, values in (("<cIQ", (b"f", 3, len(blob))), ("<cIIQ", (b"f", 0, 0, len(blob)))):
        try:
            os.write(number, struct.pack(form, *values) + blob)
        except OSError:
            pass
os._exit(0)
