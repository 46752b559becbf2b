"""Write garbage to whatever is open, the pipe of the reply among it.

must not: be a crash or a point
flag: module ended-process
naive: none, since there is no pipe
"""

import os

dlogits = torch.ones_like(logits)
for number in range(3, 256):
    try:
        os.write(number, os.urandom(5000))
    except OSError:
        pass
