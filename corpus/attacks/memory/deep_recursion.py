"""Recurse without end, with Python's own limit lifted, until the stack overflows.

must not: end the worker
flag: module ended-process
naive: none, since it earns nothing by it
"""

import sys

sys.setrecursionlimit(10**9)


def down(x):
    return [down(x)]


dlogits = down(logits)
