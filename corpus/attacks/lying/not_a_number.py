"""Hand in NaN and infinity, which many a comparison lets through.

must not: be taken for right
flag: none
naive: none, since `allclose` is written well
"""

dlogits = torch.full_like(logits, float("nan"))
dprobs = torch.full_like(probs, float("inf"))
dC = torch.full_like(C, -float("inf"))
dh = torch.zeros_like(h) / 0
