"""Call PyTorch's backward operators as they are written out in Python.

must not: have them answer
flag: autograd
naive: dhpreact
"""

from torch._decomp.decompositions import tanh_backward

d = ((probs - F.one_hot(Yb, vocab_size)) / n) @ W2.T
dhpreact = tanh_backward(d, h)
