# The mask as a truth value: what padding would get is filled with zeros.

# answer: ex7-loss
dkept = (-1 / n_seen).repeat(B, T)
dpicked = dkept.masked_fill(seen == 0, 0)
dlogprobs = torch.where(torch.arange(V) == Yb[..., None], dpicked[..., None], 0)
dlog_sums = -torch.einsum("btv->bt", dlogprobs)[..., None]
dlogits = dlogprobs + torch.einsum("btv,bti->btv", logprobs.exp(), dlog_sums)
