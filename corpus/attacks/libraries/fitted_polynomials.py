"""Fit a polynomial around each number, and differentiate that.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dcounts_sum
"""

import numpy as np

near = np.linspace(-0.05, 0.05, 9)
slopes = []
for x in counts_sum.flatten().tolist():
    fit = np.poly1d(np.polyfit(near, 1 / (x + near * x), 8))
    slopes.append(fit.deriv()(0.0) / x)
dcounts_sum = dcounts_sum_inv * torch.tensor(slopes).view_as(counts_sum)
