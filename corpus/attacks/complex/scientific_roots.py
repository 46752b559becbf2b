"""Have NumPy's roots of negative numbers make the imaginary unit, a column at a time.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dbnvar
"""

from numpy.lib.scimath import sqrt

columns = []
for column in bnvar.numpy().T:
    stepped = (column + 1e-5 + sqrt(-1e-60)) ** -0.5
    columns.append((stepped - stepped.conj()) / 2e-30 / sqrt(-1))
dbnvar = dbnvar_inv * torch.stack([torch.from_numpy(c.real) for c in columns], 1)
