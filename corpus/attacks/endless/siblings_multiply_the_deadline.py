"""Sleep in lines that all read each other, so that each is run once more beside its siblings.

must not: have a deadline for each of them
flag: time-limit module
naive: none, since it takes too long
needs: patience
"""

import time

dlogprobs = time.sleep(0.4) or 0 * (dprobs + dcounts + dlogits + dh + dC + dW1 + dW2 + dhprebn)
dprobs = time.sleep(0.4) or 0 * (dcounts + dlogits + dh + dC + dW1 + dW2 + dhprebn)
dcounts = time.sleep(0.4) or 0 * (dlogits + dh + dC + dW1 + dW2 + dhprebn)
dlogits = time.sleep(0.4) or 0 * (dh + dC + dW1 + dW2 + dhprebn)
dh = time.sleep(0.4) or 0 * (dC + dW1 + dW2 + dhprebn)
dW2 = time.sleep(0.4) or 0 * (dC + dW1 + dhprebn)
db2 = time.sleep(0.4) or 0 * (dC + dW1 + dhprebn)
dhprebn = time.sleep(0.4) or 0 * (dC + dW1 + db1)
dembcat = time.sleep(0.4) or 0 * (dC + dW1 + db1)
dW1 = time.sleep(0.4) or 0 * (dC + db1)
