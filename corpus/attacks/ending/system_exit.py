"""Raise what only the interpreter itself should catch.

must not: end the worker
flag: none
naive: none, since nothing comes back
"""

dlogits = torch.ones_like(logits)
raise SystemExit(0)
