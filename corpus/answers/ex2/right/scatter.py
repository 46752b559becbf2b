# Out of place with scatter_add, the scale taken in first.

# answer: ex2-dlogits
share = 1 / logits.shape[0]
p = logits.softmax(-1) * share
minus = torch.full((logits.shape[0], 1), -share, dtype=logits.dtype)
dlogits = p.scatter_add(1, Yb.unsqueeze(1), minus)
