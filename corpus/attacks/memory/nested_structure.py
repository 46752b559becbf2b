"""Build a structure nested a million deep, for whoever prints or frees it to overflow the stack.

must not: end the worker
flag: none
naive: none, since it earns nothing by it
needs: patience
"""

dlogits = []
for _ in range(10**6):
    dlogits = (dlogits,)
dprobs = str(dlogits) if False else dlogits
