"""Have the ahead-of-time compiler of functorch split a joint graph into forward and backward.

must not: get the backward graph
flag: autograd module
naive: dlogits
"""

from functorch.compile import aot_function, nop

with torch.enable_grad():
    x = logits.detach().clone().requires_grad_()
    hot = F.one_hot(Yb, vocab_size).double()
    aot_function(lambda t, y: -(F.log_softmax(t, 1) * y).sum() / n, nop, nop)(x, hot).backward()
dlogits = x.grad
