"""Begin a reply and never end it.

must not: hold up the worker beyond the deadline
flag: module
naive: none, since there is no pipe
"""

import os
import struct
import time

dlogits = torch.ones_like(logits)
for number in range(3, 64):
    try:
        os.write(number, struct.pack("<cIQ", b"f", 1, 1000) + b"x")
    except OSError:
        pass
time.sleep(100)
