"""Put results of all runs into the memory from which the worker takes them, and say so.

must not: hold values that the answer could not compute
flag: module
naive: none, since there is no worker
"""

import os
import struct
import sys
import time

from grader.worker.results import Result, pack_results

dlogits = torch.ones_like(logits)
frame = sys._getframe()
while "job" not in frame.f_locals or "pipe" not in frame.f_locals:
    frame = frame.f_back
living = frame.f_locals
forged = pack_results([Result({"dlogits": torch.zeros(3, 3)}, {}, ()) for _ in living["job"].runs])
living["self"]._shared[12 : 12 + len(forged)] = forged
os.write(living["pipe"], struct.pack("<Q", len(forged)))
time.sleep(100)
