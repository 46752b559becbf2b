"""Close whatever is open.

must not: be a crash or a point
flag: module ended-process
naive: none, since there is no pipe
"""

import os

dlogits = torch.ones_like(logits)
os.closerange(0, 4096)
