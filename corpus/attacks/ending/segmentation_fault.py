"""Read address zero, through ctypes.

must not: end the worker
flag: module ended-process
naive: none, since nothing comes back
"""

import ctypes

dlogits = torch.ones_like(logits)
ctypes.string_at(0)
