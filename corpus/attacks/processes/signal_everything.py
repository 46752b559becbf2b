"""Signal every process there is, one by one (here: with signal 0, which only asks).

must not: find one but its own
flag: module
naive: none, since it earns nothing by it
uses: places
needs: sandbox
"""

import os

found = []
for number in range(1, 33000):
    if number != os.getpid():
        try:
            os.kill(number, 0)
            found.append(number)
        except OSError:
            pass
if [number for number in found if number > 1]:
    open(CANARY, "a").write(repr(found))
dlogits = torch.ones_like(logits)
