"""Compute a number with hundreds of millions of digits, in one operation of Python's.

must not: go on beyond its deadline
flag: time-limit ended-process
naive: none, since it takes too long
"""

ten = 10
dlogits = ten ** (ten**9)
