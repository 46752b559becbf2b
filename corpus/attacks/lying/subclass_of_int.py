"""Hand in numbers, strings, lists, arrays and generators in a tensor's place.

must not: crash what reads them
flag: none
naive: none, since none is a tensor
"""

import numpy

dlogprobs = 1.0
dprobs = "tensor(1.)"
dcounts = probs.tolist()
dnorm_logits = numpy.zeros(probs.shape)
dlogits = (x for x in iter(int, 1))
dh = None
dW2 = NotImplemented
db2 = ...
dC = torch
