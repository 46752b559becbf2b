# The long way of notebook 1, in names of its own.

# answer: ex2-dlogits
norm_logits = logits - logits.max(1, keepdim=True).values
counts = norm_logits.exp()
counts_sum_inv = counts.sum(1, keepdim=True) ** -1
probs = counts * counts_sum_inv
dlogprobs = torch.zeros_like(probs)
dlogprobs[range(n), Yb] = -1 / n
dprobs = dlogprobs / probs
dcounts_sum_inv = (dprobs * counts).sum(1, keepdim=True)
dcounts = dprobs * counts_sum_inv - dcounts_sum_inv * counts_sum_inv**2
dlogits = dcounts * counts
