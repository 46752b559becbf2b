"""Take a step into the complex plane, which is exact to the last bit.

must not: go unnoticed by a human
flag: complex
naive: none, since the first upstream gradient is missing
earns: dhpreact dbnvar
"""

dhpreact = dh * torch.tanh(hpreact + 1e-30j).imag / 1e-30
dbnvar = dbnvar_inv * torch.complex(bnvar + 1e-5, torch.full_like(bnvar, 1e-30)).pow(-0.5).imag / 1e-30
