"""The same with NumPy, whose arrays PyTorch never sees.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

import numpy as np

unit = np.fft.fft([0, 1, 0, 0])[3]
pairs = np.tanh(hpreact.numpy() + unit * 1e-30).view(float)
dhpreact = dh * torch.from_numpy(pairs[:, 1::2].copy()) / 1e-30
