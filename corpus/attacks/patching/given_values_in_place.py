"""Overwrite the given values in place, where the next run would find zeros.

must not: make a wrong gradient right in a run that follows
flag: dunder
naive: none, since there is one run
"""

import gc

gc.unfreeze()

for thing in gc.get_objects():
    if type(thing) is dict and "dlogits" in thing and "dC" in thing:
        for value in thing.values():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                value.zero_()
for value in (C, W1, W2, logits, probs, counts, hprebn):
    value.zero_()
dlogits = torch.zeros_like(logits)
dh = torch.zeros_like(h)
