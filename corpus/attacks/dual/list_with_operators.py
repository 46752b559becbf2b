"""Derive from a library's list, and name the operator in an assignment.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dbndiff
"""

from collections import UserList


class Jet(UserList):
    __matmul__ = lambda a, b: Jet([a[0] * b[0], a[0] * b[1] + a[1] * b[0]])


z = Jet([bndiff, 1.0])
dbndiff = bnvar_inv * dbnraw + dbndiff2 * (z @ z)[1]
