"""Start threads that wait for each other, so that all begin anew whenever one is waited for.

must not: slow anybody but itself
flag: time-limit
naive: none, since it earns nothing by it
"""

import queue
import threading

empty = queue.Queue()
for _ in range(300):
    threading.Thread(target=empty.get).start()
for _ in range(300):
    threading.Thread(target=empty.join if _ % 2 else empty.get, daemon=True).start()
try:
    empty.get()
finally:
    dlogits = torch.ones_like(logits)
