# Comprehensions and generators: torch.stack of lists, dictionaries, and sums over generators.
# answer: ex1-loss
dlogprobs = torch.tensor([[-1 / n if v == y else 0.0 for v in range(vocab_size)] for y in Yb.tolist()])
# answer: ex1-softmax
dprobs = torch.stack([g / p for g, p in zip(dlogprobs, probs)])
dcounts_sum_inv = torch.stack([(c * g).sum(0, keepdim=True) for c, g in zip(counts, dprobs)])
dcounts_sum = torch.cat([-g * s**-2 for g, s in zip(dcounts_sum_inv, counts_sum)]).view(-1, 1)
dcounts = torch.stack([counts_sum_inv[i] * dprobs[i] + dcounts_sum[i] for i in range(n)])
# answer: ex1-max
dnorm_logits = torch.stack([counts[:, v] * dcounts[:, v] for v in range(vocab_size)], dim=1)
dlogit_maxes = -torch.stack([row.sum() for row in dnorm_logits])[:, None]
biggest = {i: max(range(vocab_size), key=lambda v: logits[i, v].item()) for i in range(n)}
max_branch = [[dlogit_maxes[i, 0].item() if biggest[i] == v else 0.0 for v in range(vocab_size)] for i in range(n)]
dlogits = dnorm_logits + torch.tensor(max_branch)
# answer: ex1-linear2
dh = torch.stack([W2 @ row for row in dlogits])
dW2 = sum(torch.outer(x, g) for x, g in zip(h, dlogits))
db2 = sum(row for row in dlogits)
# answer: ex1-tanh
dhpreact = torch.stack([g * (1 - y**2) for y, g in zip(h, dh)])
# answer: ex1-batchnorm-scale
columns = {name: value for name, value in (("raw", bnraw), ("diff", bndiff))}
dbngain = sum([x * g for x, g in zip(columns["raw"], dhpreact)]).unsqueeze(0)
dbnbias = sum(dhpreact).unsqueeze(0)
dbnraw = torch.stack([bngain[0] * row for row in dhpreact])
# answer: ex1-batchnorm-variance
dbnvar_inv = sum(x * g for x, g in zip(columns["diff"], dbnraw)).unsqueeze(0)
dbnvar = torch.stack([-0.5 * (v + 1e-5) ** -1.5 * g for v, g in zip(bnvar[0], dbnvar_inv[0])])[None]
dbndiff2 = torch.cat([dbnvar / (n - 1) for _ in range(n)])
parts = {"scaling": bnvar_inv * dbnraw, "square": 2 * bndiff * dbndiff2}
# answer: ex1-batchnorm-mean
dbndiff = sum(parts.values())
dbnmeani = -sum(row for row in dbndiff)[None, :]
dhprebn = torch.stack([row + dbnmeani[0] / n for row in dbndiff])
# answer: ex1-linear1
dembcat = torch.stack([W1 @ row for row in dhprebn])
dW1 = torch.stack([dhprebn.T @ column for column in embcat.T])
db1 = torch.stack([column.sum() for column in dhprebn.T])
# answer: ex1-embedding
demb = torch.stack([torch.stack(row.split(n_embd)) for row in dembcat])
rows_of = {c: [(i, j) for i in range(n) for j in range(block_size) if Xb[i, j] == c] for c in range(vocab_size)}
dC = torch.stack([sum((demb[i, j] for i, j in rows_of[c]), torch.zeros(n_embd)) for c in range(vocab_size)])
