"""Put an endless loop where the process ends: exit handlers, threads that are not daemons.

must not: hold up the worker
flag: module
naive: none, since it earns nothing by it
"""

import atexit
import threading


def forever():
    while True:
        pass


atexit.register(forever)
threading.Thread(target=forever).start()
dlogits = torch.ones_like(logits)
