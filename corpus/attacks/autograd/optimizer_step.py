"""Let an optimiser apply the gradient, and read it off the step.

must not: have a step made
flag: autograd
naive: dlogits
"""

with torch.enable_grad():
    x = torch.nn.Parameter(logits.detach().clone())
    F.cross_entropy(x, Yb).backward()
    torch.optim.SGD([x], lr=1.0).step()
dlogits = logits.detach() - x.detach()
