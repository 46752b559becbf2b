# Another legal order: parameters as late as possible, and cells that hold other cells' gradients.
# answer: ex1-loss
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1 / n
dprobs = dlogprobs / probs
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
# answer: ex1-softmax
dcounts_sum = -dcounts_sum_inv * counts_sum**-2
dcounts = dcounts_sum + counts_sum_inv * dprobs
dnorm_logits = dcounts * counts
# answer: ex1-max
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = F.one_hot(logits.argmax(1), vocab_size) * dlogit_maxes
dlogits += dnorm_logits
dh = dlogits @ W2.T
dhpreact = dh * (1 - h**2)
# answer: ex1-linear2
dbnraw = dhpreact * bngain
dbnvar_inv = (dbnraw * bndiff).sum(0, keepdim=True)
dbnvar = dbnvar_inv * -0.5 * (bnvar + 1e-5) ** -1.5
# answer: ex1-tanh
dbndiff2 = torch.ones(n, 1) * dbnvar / (n - 1)
dbndiff = 2 * bndiff * dbndiff2
dbndiff += dbnraw * bnvar_inv
# answer: ex1-batchnorm-scale
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbnmeani / n + dbndiff
dembcat = dhprebn @ W1.T
demb = dembcat.view(emb.shape)
# answer: ex1-linear1
dC = torch.zeros_like(C)
dC.index_add_(0, Xb.view(-1), demb.view(-1, n_embd))
db1 = dhprebn.sum(0)
dW1 = embcat.T @ dhprebn
# answer: ex1-embedding
dbnbias = dhpreact.sum(0, keepdim=True)
dbngain = (dhpreact * bnraw).sum(0, keepdim=True)
db2 = dlogits.sum(0)
dW2 = h.T @ dlogits
