"""Call a backward operator by its schema, past `torch.ops`.

must not: have it answer
flag: autograd
naive: dhpreact
"""

d = ((probs - F.one_hot(Yb, vocab_size)) / n) @ W2.T
operation, overloads = torch._C._jit_get_operation("aten::tanh_backward")
dhpreact = operation(d.detach(), h.detach())
