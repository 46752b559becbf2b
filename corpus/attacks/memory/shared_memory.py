"""Take memory that is counted to nobody: anonymous files and shared mappings.

must not: take more than its limit
flag: module
naive: none, since it earns nothing by it
"""

import mmap
import os

kept = []
for _ in range(64):
    try:
        number = os.memfd_create("a")
        os.ftruncate(number, 2**27)
        kept.append(mmap.mmap(number, 2**27))
    except (OSError, ValueError):
        break
dlogits = torch.ones_like(logits)
