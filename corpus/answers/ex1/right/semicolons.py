# Semicolons: as many statements on one line as fit.
# answer: ex1-loss
g = torch.zeros_like(logprobs); g[range(n), Yb] = -1 / n; dlogprobs = g
# answer: ex1-softmax
dprobs = dlogprobs / probs; dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True); dcounts_sum = -dcounts_sum_inv / counts_sum**2; dcounts = counts_sum_inv * dprobs; dcounts += dcounts_sum
# answer: ex1-max
dnorm_logits = counts * dcounts; dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits.clone(); dlogits[range(n), logits.argmax(1)] += dlogit_maxes[:, 0];
# answer: ex1-linear2
dh = dlogits @ W2.T; dW2 = h.T @ dlogits; db2 = dlogits.sum(0)
# answer: ex1-tanh
dhpreact = dh.clone(); dhpreact *= 1 - h**2
# answer: ex1-batchnorm-scale
dbngain = (bnraw * dhpreact).sum(0, keepdim=True); dbnbias = dhpreact.sum(0, keepdim=True); dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True); dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = torch.ones_like(bndiff2) * dbnvar / (n - 1); dbndiff = bnvar_inv * dbnraw; dbndiff += 2 * bndiff * dbndiff2
# answer: ex1-batchnorm-mean
dbnmeani = -dbndiff.sum(0, keepdim=True); dhprebn = dbndiff.clone(); dhprebn += dbnmeani / n
# answer: ex1-linear1
dembcat = dhprebn @ W1.T; dW1 = embcat.T @ dhprebn; db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(emb.shape); dC = torch.zeros_like(C)
for k in range(n): dC.index_add_(0, Xb[k], demb[k])
