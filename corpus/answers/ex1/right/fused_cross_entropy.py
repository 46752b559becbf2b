# A shortcut: dlogits in one go, softmax minus one-hot, with the small steps written beside it.
# answer: ex1-loss
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[torch.arange(n), Yb] -= 1 / n
# answer: ex1-softmax
dprobs = dlogprobs / probs
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv * counts_sum_inv**2
dcounts = dprobs * counts_sum_inv + dcounts_sum
# answer: ex1-max
dnorm_logits = dcounts * counts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = F.softmax(logits, 1)
dlogits[range(n), Yb] -= 1
dlogits /= n
# answer: ex1-linear2
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
# answer: ex1-tanh
dhpreact = dh * (1 - h**2)
# answer: ex1-batchnorm-scale
dbngain = (dhpreact * bnraw).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = dhpreact * bngain
# answer: ex1-batchnorm-variance
dbnvar_inv = (dbnraw * bndiff).sum(0, keepdim=True)
dbnvar = dbnvar_inv * -0.5 * bnvar_inv**3
dbndiff2 = (dbnvar / (n - 1)).expand_as(bndiff2)
# answer: ex1-batchnorm-mean
dbndiff = dbnraw * bnvar_inv + dbndiff2 * 2 * bndiff
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + dbnmeani / n
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C)
dC.index_add_(0, Xb.flatten(), demb.flatten(0, 1))
