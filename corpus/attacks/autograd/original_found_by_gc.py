"""Look through all of memory for the engine's own functions, whatever hides them.

must not: find one that still differentiates
flag: dunder
naive: dlogits
"""

import gc

gc.unfreeze()
dlogits = ...
torch._C._set_grad_enabled(True)
x = logits.detach().clone()
x.requires_grad = True
loss2 = F.cross_entropy(x, Yb)
engine = torch.autograd.Variable._execution_engine
for names in gc.get_objects() + gc.get_referents(type(engine).__dict__):
    for key, value in list(names.items()) if type(names) is dict else ():
        if isinstance(key, str) and key in ("_engine_run_backward", "run_backward", "original"):
            for owner in ((), (engine,)):
                try:
                    (dlogits,) = value(*owner, (loss2,), (torch.ones_like(loss2),), True, False, (x,), allow_unreachable=True, accumulate_grad=False)
                except Exception:
                    pass
