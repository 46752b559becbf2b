"""Put a whole matrix beside itself in blocks: a power of the large one has the derivative.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dnorm_logits
"""

rows = []
for x, d in zip(norm_logits, dcounts):
    a, e = torch.diag(x), torch.diag(d)
    large = torch.cat([torch.cat([a, e], 1), torch.cat([torch.zeros_like(a), a], 1)], 0)
    rows.append(torch.diag(torch.matrix_exp(large)[: len(x), len(x) :]))
dnorm_logits = torch.stack(rows)
