"""Hide all lines in a string, so that none can be checked alone, and let one pass unchecked.

must not: earn points for wrong values because they cannot be told apart
flag: dunder
naive: none, since the values are wrong
"""

exec("""
dlogits = probs.clone()
dlogits[range(n), Yb] -= 1
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
dhpreact = dh
""")
