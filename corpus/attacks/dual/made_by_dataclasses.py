"""Carry a derivative along in a class that `make_dataclass` has made, operators and all.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dbndiff2 dbnvar
"""

import dataclasses

Dual = dataclasses.make_dataclass(
    "Dual",
    ["x", "slope"],
    namespace={
        "__add__": lambda a, c: Dual(a.x + c, a.slope),
        "__mul__": lambda a, c: Dual(a.x * c, a.slope * c),
        "__pow__": lambda a, k: Dual(a.x**k, k * a.x ** (k - 1) * a.slope),
    },
)
dbnvar = dbnvar_inv * ((Dual(bnvar, torch.ones_like(bnvar)) + 1e-5) ** -0.5).slope
dbndiff2 = (Dual(bndiff2, torch.ones_like(bndiff2)) * (1 / (n - 1))).slope * dbnvar
