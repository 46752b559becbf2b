"""Loop for ever.

must not: hold up the others
flag: time-limit
naive: none, since it earns nothing by it
peer: otter
"""

while True:
    dlogits = ...
