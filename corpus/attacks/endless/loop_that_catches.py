"""Loop for ever and catch what interrupts.

must not: go on beyond its deadline
flag: time-limit
naive: none, since it earns nothing by it
"""

while True:
    try:
        while True:
            dlogits = ...
    except BaseException:
        pass
