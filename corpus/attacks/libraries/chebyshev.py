"""Fit Chebyshev polynomials to the step, and have NumPy differentiate them.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

import numpy as np
from numpy.polynomial import Chebyshev

far = float(hpreact.abs().max()) + 0.1
fit = Chebyshev.interpolate(np.tanh, 300, domain=[-far, far])
dhpreact = dh * torch.from_numpy(fit.deriv()(hpreact.numpy()))
