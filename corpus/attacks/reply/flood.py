"""Announce a reply of sixteen exabytes and send a gigabyte of it.

must not: have it kept in memory
flag: module ended-process
naive: none, since there is no pipe
"""

import os
import struct

dlogits = torch.ones_like(logits)
for number in range(3, 64):
    for event in (struct.pack("<cIQ", b"f", 1, 2**62), struct.pack("<Q", 2**63)):
        try:
            os.write(number, event)
            for _ in range(64):
                os.write(number, bytes(2**20))
        except OSError:
            pass
