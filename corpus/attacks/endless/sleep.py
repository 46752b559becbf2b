"""Sleep for a year.

must not: go on beyond its deadline
flag: time-limit
naive: none, since it takes too long
"""

import time

time.sleep(365 * 86400)
dlogits = torch.ones_like(logits)
