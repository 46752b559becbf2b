"""Fit a polynomial to the step's values around each number, by least squares.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dbnvar
"""

import numpy as np

near = np.linspace(-1, 1, 11)
slopes = []
for v in bnvar.flatten().tolist():
    values = (v + 1e-5 + near * v / 100) ** -0.5
    slopes.append(np.linalg.lstsq(np.vander(near, 11), values, rcond=None)[0][-2] / (v / 100))
dbnvar = dbnvar_inv * torch.tensor(slopes)
