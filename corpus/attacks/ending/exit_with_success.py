"""End the process at once, as if all were well.

must not: be taken for an answer
flag: module ended-process
naive: none, since nothing comes back
peer: nbgrader
"""

import os

dlogits = torch.ones_like(logits)
os._exit(0)
