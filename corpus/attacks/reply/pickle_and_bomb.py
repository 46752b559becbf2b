"""Send a pickle that runs code where it is read, and an archive that unpacks to gigabytes.

must not: be unpickled or unpacked
flag: module pickle ended-process
naive: none, since there is no pipe
uses: places
"""

import gzip
import os
import pickle
import struct


class Payload:
    def __reduce__(self):
        return (os.system, (f"echo unpickled > {CANARY}",))


dlogits = torch.ones_like(logits)
bomb = gzip.compress(bytes(2**26))
for data in (pickle.dumps(Payload()), bomb, struct.pack("<Q", 2**40) + b'{"a": {}}'):
    for number in range(3, 64):
        try:
            os.write(number, struct.pack("<cIQ", b"f", 1, len(data)) + data)
        except OSError:
            pass
os._exit(0)
