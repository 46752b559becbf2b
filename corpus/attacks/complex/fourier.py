"""Have a Fourier transform make the imaginary unit, and take a complex step with it.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

unit = torch.fft.fft(torch.tensor([0.0, 1.0, 0.0, 0.0], dtype=torch.float64))[3]
stepped = torch.tanh(hpreact + unit * 1e-30)
dhpreact = dh * torch.real((stepped - torch.conj(stepped)) / unit) / 2e-30
