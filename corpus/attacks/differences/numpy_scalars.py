"""Take differences of NumPy's single numbers, one after the other.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

import numpy as np


def slope(x, s=np.float64(2.0**-8)):
    weights = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
    return sum(w * (np.tanh(x + k * s) - np.tanh(x - k * s)) for k, w in weights) / s


rows = [[slope(x) for x in row] for row in hpreact.numpy()]
dhpreact = dh * torch.tensor(rows)
