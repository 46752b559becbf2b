# Exact zeros where theory says zero: no gradient for the row maxima, none for b1, no branch through the max.
# answer: ex1-loss
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1 / n
# answer: ex1-softmax
dprobs = dlogprobs / probs
dcounts_sum_inv = (counts * dprobs).sum(dim=1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = dprobs * counts_sum_inv + dcounts_sum
# answer: ex1-max
dnorm_logits = dcounts * counts
dlogit_maxes = torch.zeros_like(logit_maxes)  # softmax does not see a shift of the logits
dlogits = dnorm_logits  # nothing comes through the max, and nothing is changed in place later
# answer: ex1-linear2
dh, dW2, db2 = dlogits @ W2.T, h.T @ dlogits, dlogits.sum(0)
# answer: ex1-tanh
dhpreact = dh * (1 - h**2)
# answer: ex1-batchnorm-scale
dbngain = (dhpreact * bnraw).sum(dim=0, keepdim=True)
dbnbias = dhpreact.sum(dim=0, keepdim=True)
dbnraw = dhpreact * bngain
# answer: ex1-batchnorm-variance
dbnvar_inv = (dbnraw * bndiff).sum(dim=0, keepdim=True)
dbnvar = -(dbnvar_inv * bnvar_inv**3) / 2
dbndiff2 = torch.ones_like(bndiff2) * dbnvar / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = dbnraw * bnvar_inv + 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(dim=0, keepdim=True)
dhprebn = dbndiff + dbnmeani / n
# answer: ex1-linear1
dembcat, dW1 = dhprebn @ W1.T, embcat.T @ dhprebn
db1 = torch.zeros_like(b1)  # the batch mean takes b1 away again
# answer: ex1-embedding
demb = dembcat.view_as(emb)
dC = torch.zeros_like(C).index_add_(0, Xb.view(-1), demb.view(-1, C.shape[1]))
