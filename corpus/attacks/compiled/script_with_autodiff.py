"""Let TorchScript's old executor differentiate a compiled function by its own formulas.

must not: get a graph from it
flag: autograd module
naive: dlogits
"""

torch._C._jit_set_profiling_executor(False)
unit = torch.jit.CompilationUnit("""
def f(x, y):
    return torch.log_softmax(x * y, 1) * 1.0
""")
with torch.enable_grad():
    x = logits.detach().clone().requires_grad_()
    y = torch.ones_like(x).requires_grad_()
    for _ in range(3):
        out = unit.f(x, y)
    upstream = torch.zeros_like(x)
    upstream[range(n), Yb] = -1 / n
    out.backward(upstream)
    dlogits = x.grad
