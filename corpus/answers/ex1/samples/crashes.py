# A submission in which one line raises and one loop never ends; the rest is right.
# answer: ex1-loss
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1.0 / n
# answer: ex1-softmax
dprobs = dlogprobs / probs
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = counts_sum_inv * dprobs
dcounts += dcounts_sum
# answer: ex1-max
dnorm_logits = counts * dcounts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits.clone()
dlogits += F.one_hot(logits.argmax(1), num_classes=vocab_size) * dlogit_maxes
# answer: ex1-linear2
dh = dlogits @ W2.T
dW2 = h @ dlogits
db2 = dlogits.sum(0)
# answer: ex1-tanh
dhpreact = (1 - h**2) * dh
# answer: ex1-batchnorm-scale
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = torch.ones_like(bndiff2) * dbnvar / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw + 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + dbnmeani / n
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C)
k = 0
while k < n:
    for j in range(block_size):
        dC[Xb[k, j]] += demb[k, j]
