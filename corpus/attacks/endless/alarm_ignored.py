"""Ignore the alarm, reset the timer, block every signal, then loop.

must not: go on beyond its deadline
flag: module
naive: none, since it earns nothing by it
"""

import signal

signal.setitimer(signal.ITIMER_REAL, 0)
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True:
    dlogits = ...
