# While loops with counters, and values named by the walrus in the middle of an expression.
# answer: ex1-loss
dlogprobs = torch.zeros_like(logprobs)
i = 0
while i < n:
    dlogprobs[i, Yb[i]] = -1 / n
    i += 1
# answer: ex1-softmax
dprobs = (inverse := 1 / probs) * dlogprobs
dcounts_sum_inv = (weighted := counts * dprobs).sum(1, keepdim=True)
dcounts_sum = -(squared := counts_sum_inv * counts_sum_inv) * dcounts_sum_inv
dcounts = (from_product := counts_sum_inv * dprobs) + (from_sum := dcounts_sum.expand_as(counts))
# answer: ex1-max
dnorm_logits = counts * dcounts
dlogit_maxes = -(row_sums := dnorm_logits.sum(1, keepdim=True))
dlogits = dnorm_logits.clone()
i = 0
while True:
    if i == n:
        break
    dlogits[i, (best := int(logits[i].argmax()))] += dlogit_maxes[i, 0]
    i += 1
# answer: ex1-linear2
dh = (g := dlogits) @ W2.T
dW2 = h.T @ g
db2 = torch.zeros_like(b2)
remaining = list(dlogits)
while remaining:
    db2 += remaining.pop()
# answer: ex1-tanh
dhpreact = (slope := 1 - h**2) * dh
# answer: ex1-batchnorm-scale
dbngain = torch.zeros_like(bngain)
i = n
while i > 0:
    i -= 1
    dbngain += bnraw[i] * dhpreact[i]
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * (base := bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = torch.ones_like(bndiff2) * ((share := 1 / (n - 1)) * dbnvar)
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw
times = 0
while times < 2:
    dbndiff += bndiff * dbndiff2
    times += 1
dbnmeani = -(total := dbndiff.sum(0, keepdim=True))
dhprebn = dbndiff - total / n
# answer: ex1-linear1
dembcat = dhprebn @ (turned := W1.T)
dW1 = (turned := embcat.T) @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C)
position = 0
while position < block_size:
    example = 0
    while (example := example + 1) <= n:
        dC[Xb[example - 1, position]] += demb[example - 1, position]
    position += 1
