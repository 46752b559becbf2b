# Loops over the examples of the batch, one row of tensor arithmetic at a time.
# answer: ex1-loss
dlogprobs = torch.zeros_like(logprobs)
for i in range(n):
    dlogprobs[i, Yb[i]] = -1 / n
# answer: ex1-softmax
dprobs = torch.zeros_like(probs)
for i in range(n):
    dprobs[i] = dlogprobs[i] / probs[i]
dcounts_sum_inv = torch.zeros_like(counts_sum_inv)
for i in range(n):
    dcounts_sum_inv[i] = counts[i] @ dprobs[i]
dcounts_sum = torch.zeros_like(counts_sum)
for i in range(n):
    dcounts_sum[i] = -dcounts_sum_inv[i] / counts_sum[i] ** 2
dcounts = torch.zeros_like(counts)
for i in range(n):
    dcounts[i] += dprobs[i] * counts_sum_inv[i]
    dcounts[i] += dcounts_sum[i]
# answer: ex1-max
dnorm_logits = torch.zeros_like(norm_logits)
for i in range(n):
    dnorm_logits[i] = dcounts[i] * counts[i]
dlogit_maxes = torch.zeros_like(logit_maxes)
for i in range(n):
    dlogit_maxes[i] = -dnorm_logits[i].sum()
dlogits = torch.zeros_like(logits)
for i in range(n):
    dlogits[i] = dnorm_logits[i]
    dlogits[i, logits[i].argmax()] += dlogit_maxes[i, 0]
# answer: ex1-linear2
dh = torch.zeros_like(h)
for i in range(n):
    dh[i] = W2 @ dlogits[i]
dW2 = torch.zeros_like(W2)
for i in range(n):
    dW2 += torch.outer(h[i], dlogits[i])
db2 = torch.zeros_like(b2)
for i in range(n):
    db2 += dlogits[i]
# answer: ex1-tanh
dhpreact = torch.zeros_like(hpreact)
for i in range(n):
    dhpreact[i] = dh[i] * (1 - h[i] * h[i])
# answer: ex1-batchnorm-scale
dbngain = torch.zeros_like(bngain)
for i in range(n):
    dbngain[0] += bnraw[i] * dhpreact[i]
dbnbias = torch.zeros_like(bnbias)
for i in range(n):
    dbnbias[0] += dhpreact[i]
dbnraw = torch.zeros_like(bnraw)
for i in range(n):
    dbnraw[i] = bngain[0] * dhpreact[i]
# answer: ex1-batchnorm-variance
dbnvar_inv = torch.zeros_like(bnvar_inv)
for i in range(n):
    dbnvar_inv[0] += bndiff[i] * dbnraw[i]
dbnvar = torch.zeros_like(bnvar)
for j in range(n_hidden):
    dbnvar[0, j] = -0.5 * (bnvar[0, j] + 1e-5) ** -1.5 * dbnvar_inv[0, j]
dbndiff2 = torch.zeros_like(bndiff2)
for i in range(n):
    dbndiff2[i] = dbnvar[0] / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = torch.zeros_like(bndiff)
for i in range(n):
    dbndiff[i] = bnvar_inv[0] * dbnraw[i]
for i in range(n):
    dbndiff[i] += 2 * bndiff[i] * dbndiff2[i]
dbnmeani = torch.zeros_like(bnmeani)
for i in range(n):
    dbnmeani[0] -= dbndiff[i]
dhprebn = torch.zeros_like(hprebn)
for i in range(n):
    dhprebn[i] = dbndiff[i] + dbnmeani[0] / n
# answer: ex1-linear1
dembcat = torch.zeros_like(embcat)
for i in range(n):
    dembcat[i] = W1 @ dhprebn[i]
dW1 = torch.zeros_like(W1)
for i in range(n):
    dW1 += torch.outer(embcat[i], dhprebn[i])
db1 = torch.zeros_like(b1)
for i in range(n):
    db1 += dhprebn[i]
# answer: ex1-embedding
demb = torch.zeros_like(emb)
for i in range(n):
    for j in range(block_size):
        demb[i, j] = dembcat[i, j * n_embd : (j + 1) * n_embd]
dC = torch.zeros_like(C)
for i in range(n):
    for j in range(block_size):
        dC[Xb[i, j]] += demb[i, j]
