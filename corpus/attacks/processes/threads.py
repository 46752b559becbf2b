"""Start threads until none more is given (here: at most three hundred).

must not: slow anybody but itself
flag: none
naive: none, since it earns nothing by it
"""

import threading
import time

for _ in range(300):
    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
dlogits = torch.ones_like(logits)
