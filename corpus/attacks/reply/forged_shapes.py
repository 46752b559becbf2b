"""Send values of every odd dtype and shape that the format allows, under names nobody asked for.

must not: crash the judge
flag: module
naive: none, since there is no worker
"""

import sys

execution = sys.modules["grader.worker.execution"]
strange = {
    "dlogits": torch.zeros((1,) * 16),
    "dh": torch.zeros(0, 2**31, 1),
    "dC": torch.zeros(3, dtype=torch.bfloat16),
    "dW1": torch.zeros((), dtype=torch.uint8),
    "dprobs": torch.zeros(2, dtype=torch.complex64),
    "\x00<b>": torch.zeros(1),
    "loss": torch.zeros(1),
}
execution.Executor.read_values = lambda *_: (dict(strange), {"dlogprobs": "<b>" * 10**3, "": "x"})
dlogits = torch.ones_like(logits)
