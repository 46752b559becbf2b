"""Send a pickle that runs code where it is read, then an archive that unpacks to gigabytes.

must not: be unpickled or unpacked
flag: unreadable-reply
naive: none, since there is no worker
uses: places
"""

import gzip
import os
import pickle
import struct
import sys
import time


class Payload:
    def __reduce__(self):
        return (os.system, (f"echo unpickled > {CANARY}",))


dlogits = torch.ones_like(logits)
frame = sys._getframe()
while "job" not in frame.f_locals or "pipe" not in frame.f_locals:
    frame = frame.f_back
living = frame.f_locals
is_first = "lecture" in living["job"].runs[0].groups
data = pickle.dumps(Payload()) if is_first else gzip.compress(bytes(2**26))
living["self"]._shared[12 : 12 + len(data)] = data
os.write(living["pipe"], struct.pack("<Q", len(data)))
time.sleep(100)
