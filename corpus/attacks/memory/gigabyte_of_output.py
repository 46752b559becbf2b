"""Print a gigabyte, to both streams.

must not: have it kept, or wait for somebody to read it
flag: module
naive: none, since it earns nothing by it
"""

import os
import sys

line = "x" * 2**20
for _ in range(1024):
    print(line)
    print(line, file=sys.stderr)
    try:
        os.write(1, b"x" * 2**16)
        os.write(2, b"x" * 2**16)
    except OSError:
        pass
dlogits = torch.ones_like(logits)
