# Another shortcut: dhprebn by the fused formula of batch normalisation, the steps inside it afterwards.
# answer: ex1-loss
dlogprobs = -F.one_hot(Yb, vocab_size).to(logits) / n
# answer: ex1-softmax
dprobs = dlogprobs / probs
dcounts_sum_inv = torch.sum(counts * dprobs, 1, True)
dcounts_sum = -dcounts_sum_inv / counts_sum.square()
dcounts = dprobs / counts_sum + dcounts_sum
# answer: ex1-max
dnorm_logits = counts * dcounts
dlogit_maxes = -torch.sum(dnorm_logits, 1, True)
dlogits = dnorm_logits.scatter_add(1, logits.max(1, keepdim=True).indices, dlogit_maxes)
# answer: ex1-linear2
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
# answer: ex1-tanh
dhpreact = (1 - h * h) * dh
# answer: ex1-batchnorm-scale
dhprebn = bngain * bnvar_inv / n * (n * dhpreact - dhpreact.sum(0) - n / (n - 1) * bnraw * (dhpreact * bnraw).sum(0))
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = dbnvar.repeat(n, 1) / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw + 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(n, block_size, n_embd)
dC = torch.zeros_like(C)
for position in range(block_size):
    dC.index_add_(0, Xb[:, position], demb[:, position])
