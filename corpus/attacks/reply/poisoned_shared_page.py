"""Overwrite every shared mapping of the process, where the worker reads what runs now.

must not: mislead it about another submission
flag: module
naive: none, since there is no worker
"""

import gc

gc.unfreeze()
import mmap

for thing in gc.get_objects():
    for item in [thing, *gc.get_referents(thing)] if type(thing) in (dict, list, tuple) else [thing]:
        if type(item) is mmap.mmap:
            try:
                item[:] = b"\xff" * len(item)
            except (ValueError, TypeError):
                pass
dlogits = torch.ones_like(logits)
