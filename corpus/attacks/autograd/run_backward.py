"""Call the engine itself, below everything that could be replaced in Python.

must not: get the engine to run
flag: autograd
naive: dlogits
"""

torch._C._set_grad_enabled(True)
x = logits.detach().clone().requires_grad_()
loss2 = F.cross_entropy(x, Yb)
try:
    engine = torch.autograd.Variable._execution_engine
    (dlogits,) = engine.run_backward((loss2,), (torch.ones_like(loss2),), False, False, (x,), allow_unreachable=True, accumulate_grad=False)
except AttributeError:
    engine = type(torch.autograd.Variable._execution_engine)()
    (dlogits,) = torch._C._EngineBase.run_backward(engine, (loss2,), (torch.ones_like(loss2),), False, False, (x,))
