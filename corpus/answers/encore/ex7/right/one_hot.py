# One-hot rows in place of a scatter, the softmax in place of an exponential.

# answer: ex7-loss
dkept = -(n_seen**-1).expand(B, T)
dpicked = seen * dkept
dlogprobs = F.one_hot(Yb, V) * dpicked[:, :, None]
dlog_sums = -dlogprobs.sum(-1).unsqueeze(-1)
dlogits = dlogprobs + F.softmax(logits, 2) * dlog_sums
