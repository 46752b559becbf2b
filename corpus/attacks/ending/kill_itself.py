"""Kill its own process and its own group, again in every statement.

must not: end the worker
flag: module ended-process
naive: none, since nothing comes back
"""

import os
import signal

os.kill(os.getpid(), signal.SIGSEGV)
os.kill(os.getpid(), signal.SIGKILL)
os.killpg(0, signal.SIGKILL)
os.abort()
dlogits = torch.ones_like(logits)
