# Name by name.

# answer: ex7-loss
n = sum(int(length) + 1 for length in lengths)
dkept = torch.zeros_like(kept)
for b in range(B):
    dkept[b] = -1 / n
dpicked = torch.zeros_like(picked)
for b in range(B):
    dpicked[b, : lengths[b] + 1] = dkept[b, : lengths[b] + 1]
dlogprobs = torch.zeros_like(logprobs)
for b in range(B):
    dlogprobs[b, range(T), Yb[b]] = dpicked[b]
dlog_sums = torch.zeros_like(log_sums)
for b in range(B):
    dlog_sums[b, :, 0] = -dlogprobs[b].sum(1)
dlogits = torch.zeros_like(logits)
for b in range(B):
    dlogits[b] = dlogprobs[b] + logprobs[b].exp() * dlog_sums[b]
