"""Take complex steps in an array of a class of NumPy's that is not the plain one.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

import numpy as np

stepped = np.ma.masked_array(hpreact.numpy()) + np.sqrt(np.clongdouble(-1)) * 1e-30
dhpreact = dh * torch.tensor(np.asarray(np.ma.tanh(stepped).imag / 1e-30, dtype=float))
