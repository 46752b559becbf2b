"""Delete what can be deleted (here: one file, made for it).

must not: delete it
flag: module
naive: none, since it earns nothing by it
uses: places
needs: sandbox
"""

import os
import shutil

for action in (os.unlink, os.truncate, shutil.rmtree):
    try:
        action(SECRET) if action is not os.truncate else action(SECRET, 0)
    except (OSError, FileNotFoundError):
        pass
dlogits = torch.ones_like(logits)
