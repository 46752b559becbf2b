"""Take the dispatch keys of autograd out of the thread's set of excluded keys.

must not: get a graph recorded
flag: autograd
naive: dlogits
"""

for name in ("AutogradCPU", "AutogradOther", "AutogradFunctionality", "ADInplaceOrView"):
    try:
        torch._C._dispatch_tls_set_dispatch_key_excluded(getattr(torch._C.DispatchKey, name), False)
    except AttributeError:
        pass
guard = torch._C._IncludeDispatchKeyGuard(torch._C.DispatchKey.AutogradCPU)
with torch.enable_grad():
    x = logits.detach().clone().requires_grad_()
    dlogits = torch.autograd.grad(F.cross_entropy(x, Yb), x)[0]
