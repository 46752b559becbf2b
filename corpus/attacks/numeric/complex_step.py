"""Take a step into the complex plane, which is exact to the last bit.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact dbnvar
"""

dhpreact = dh * torch.tanh(hpreact + 1e-30j).imag / 1e-30
dbnvar = dbnvar_inv * torch.complex(bnvar + 1e-5, torch.full_like(bnvar, 1e-30)).pow(-0.5).imag / 1e-30
