"""Fork again and again (here: at most forty times, each ending within a second).

must not: have as many processes
flag: module ended-process
naive: none, since it earns nothing by it
uses: places
needs: sandbox
"""

import os
import time

made = 0
for _ in range(40):
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        time.sleep(0.5)
        os._exit(0)
    made += 1
if made > 16:
    open(CANARY, "a").write(f"{made} processes")
dlogits = torch.ones_like(logits)
