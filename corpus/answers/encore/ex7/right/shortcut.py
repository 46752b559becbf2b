# The fused cross-entropy of notebook 02, with the share of each place.

# answer: ex7-loss
share = seen / seen.sum()
dkept = torch.full_like(kept, -1 / seen.sum().item())
dpicked = -share
dlogprobs = -share.unsqueeze(-1) * F.one_hot(Yb, V)
dlog_sums = share.unsqueeze(-1)
dlogits = share.unsqueeze(-1) * (torch.softmax(logits, -1) - F.one_hot(Yb, V))
