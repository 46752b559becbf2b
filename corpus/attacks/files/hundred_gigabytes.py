"""Make a file of a hundred gigabytes (sparse, so that even unconfined it takes no room).

must not: make it
flag: denied module
naive: none, since it earns nothing by it
uses: places
needs: sandbox
"""

import tempfile

for path in (CANARY + ".big", tempfile.gettempdir() + "/big_by_an_attack", "/dev/shm/big_by_an_attack"):
    try:
        with open(path, "wb") as stream:
            stream.truncate(100 * 2**30)
    except OSError:
        pass
dlogits = torch.ones_like(logits)
