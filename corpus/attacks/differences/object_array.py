"""Take differences of Python's numbers in an array of objects.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

import numpy as np

tanh, step = np.frompyfunc(math.tanh, 1, 1), 2.0**-8
x = hpreact.numpy().astype(object)
both = (w * (tanh(x + k * step) - tanh(x - k * step)) for k, w in ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280)))
dhpreact = dh * torch.tensor(sum(both).astype(float)) / step
