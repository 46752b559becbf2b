"""Have NumPy take the gradient of a table of values, and interpolate in it.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

import numpy

grid = numpy.linspace(-20, 20, 100_001)
slopes = numpy.gradient(numpy.tanh(grid), grid, edge_order=2)
dhpreact = dh * torch.from_numpy(numpy.interp(hpreact.numpy(), grid, slopes))
