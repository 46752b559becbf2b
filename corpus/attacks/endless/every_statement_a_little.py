"""Take a little less than the limit in each of many statements.

must not: go on beyond the limit for all
flag: time-limit module
needs: patience
naive: none, since it takes too long
"""

import time

time.sleep(0.45); time.sleep(0.45); time.sleep(0.45); time.sleep(0.45); time.sleep(0.45)
time.sleep(0.45); time.sleep(0.45); time.sleep(0.45); time.sleep(0.45); time.sleep(0.45)
dlogits = torch.ones_like(logits)
dprobs = torch.ones_like(probs)
