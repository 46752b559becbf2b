"""Begin to say how long the reply is, and never end.

must not: hold up the worker beyond the deadline
flag: incident
naive: none, since there is no pipe
"""

import os
import struct
import time

dlogits = torch.ones_like(logits)
for number in range(3, 64):
    try:
        os.write(number, struct.pack("<Q", 1000)[:5])
    except OSError:
        pass
time.sleep(100)
