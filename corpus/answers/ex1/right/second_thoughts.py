# Second thoughts: placeholders left above the answer, and first attempts that a later line replaces.
# answer: ex1-loss
dlogprobs = ...  # your turn
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1.0 / n
# answer: ex1-softmax
dprobs = ...  # your turn
dcounts_sum_inv = ...  # your turn
dcounts_sum = ...  # your turn
dcounts = ...  # your turn
dprobs = dlogprobs * probs  # no: the derivative of log is one over it
dprobs = dlogprobs / probs
dcounts_sum_inv = counts * dprobs  # needs the sum
dcounts_sum_inv = dcounts_sum_inv.sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = dcounts_sum  # only the second branch
dcounts = dcounts_sum.expand(n, vocab_size) + counts_sum_inv * dprobs
# answer: ex1-max
dnorm_logits = None
dlogit_maxes = None
dlogits = None
dnorm_logits = counts * dcounts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits  # forgot the max
dlogits = dlogits + F.one_hot(logits.max(1)[1], logits.size(1)) * dlogit_maxes
# answer: ex1-linear2
dh = torch.zeros_like(h)
dh = dlogits @ W2.T
dW2 = W2 * 0
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
# answer: ex1-tanh
dhpreact = (1 - hpreact**2) * dh  # wrong tensor
dhpreact = (1 - h**2) * dh
# answer: ex1-batchnorm-scale
dbngain = (bnraw * dhpreact).sum(0)
dbngain = dbngain.unsqueeze(0)
dbnbias = dhpreact.sum(0)
dbnbias = dbnbias[None]
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * (bnvar + 1e-5) ** -0.5 * dbnvar_inv
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = torch.ones_like(bndiff2) / n * dbnvar
dbndiff2 = dbndiff2 * n / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw
dbndiff += 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff
dhprebn = dhprebn + dbnmeani / n
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = (dhprebn.T @ embcat).T
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C)
dC[Xb] += demb  # repeated characters get lost
dC = torch.zeros_like(C)
for k in range(n):
    for j in range(block_size):
        dC[Xb[k, j]] += demb[k, j]
