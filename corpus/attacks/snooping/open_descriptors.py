"""Read whatever is open in the process: other requests, other students' answers.

must not: find anything but its own reply
flag: module
naive: none, since it earns nothing by it
uses: places
"""

import os

found = b""
for number in range(64):
    try:
        os.set_blocking(number, False)
        found += os.read(number, 1000)
        os.lseek(number, 0, 0)
        found += os.read(number, 1000)
    except (OSError, ValueError):
        pass
if found:
    try:
        open(CANARY, "a").write(repr(found))
    except OSError:
        pass
dlogits = torch.ones_like(logits)
