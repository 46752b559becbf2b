"""Take complex steps with NumPy's long complex numbers, which are not Python's.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

import numpy as np

step = np.sqrt(np.clongdouble(-1)) * 1e-30
rows = [[float(np.tanh(x + step).imag / 1e-30) for x in row] for row in hpreact.numpy()]
dhpreact = dh * torch.tensor(rows)
