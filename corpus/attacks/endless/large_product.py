"""Multiply matrices for minutes inside one call, which no signal interrupts.

must not: go on beyond its deadline
flag: time-limit ended-process
naive: none, since it takes too long
needs: patience
"""

a = torch.ones(3000, 3000)
dlogits = torch.linalg.matrix_power(a, 2**30)
