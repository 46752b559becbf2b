# One helper name for everything: tmp is assigned again and again.
# answer: ex1-loss
tmp = torch.zeros_like(logprobs)
tmp[range(n), Yb] = 1
tmp = -tmp / n
dlogprobs = tmp
# answer: ex1-softmax
tmp = 1 / probs
dprobs = tmp * dlogprobs
tmp = counts * dprobs
tmp = tmp.sum(1, keepdim=True)
dcounts_sum_inv = tmp
tmp = counts_sum**2
tmp = -1 / tmp
dcounts_sum = tmp * dcounts_sum_inv
tmp = counts_sum_inv * dprobs
tmp = tmp + dcounts_sum
dcounts = tmp
# answer: ex1-max
tmp = dcounts
tmp = tmp * counts
dnorm_logits = tmp
tmp = -tmp
tmp = tmp.sum(1)
tmp = tmp.view(n, 1)
dlogit_maxes = tmp
tmp = torch.zeros_like(logits)
tmp[range(n), logits.argmax(1)] = 1
tmp = tmp * dlogit_maxes
tmp = tmp + dnorm_logits
dlogits = tmp
# answer: ex1-linear2
tmp = W2.T
dh = dlogits @ tmp
tmp = h.T
dW2 = tmp @ dlogits
tmp = dlogits
db2 = tmp.sum(0)
# answer: ex1-tanh
tmp = h
tmp = tmp * tmp
tmp = 1 - tmp
dhpreact = tmp * dh
# answer: ex1-batchnorm-scale
tmp = dhpreact * bnraw
dbngain = tmp.sum(0, keepdim=True)
tmp = dhpreact
dbnbias = tmp.sum(0, keepdim=True)
dbnraw = tmp * bngain
# answer: ex1-batchnorm-variance
tmp = dbnraw * bndiff
dbnvar_inv = tmp.sum(0, keepdim=True)
tmp = bnvar + 1e-5
tmp = tmp**-1.5
dbnvar = -0.5 * tmp * dbnvar_inv
tmp = torch.ones_like(bndiff2)
dbndiff2 = tmp * dbnvar / (n - 1)
# answer: ex1-batchnorm-mean
tmp = dbnraw * bnvar_inv
tmp += 2 * bndiff * dbndiff2
dbndiff = tmp
tmp = dbndiff.sum(0, keepdim=True)
dbnmeani = -tmp
tmp = dbnmeani / n
dhprebn = dbndiff + tmp
# answer: ex1-linear1
tmp = dhprebn
dembcat = tmp @ W1.T
dW1 = embcat.T @ tmp
db1 = tmp.sum(0)
# answer: ex1-embedding
tmp = dembcat.split(n_embd, dim=1)
tmp = torch.stack(tmp, dim=1)
demb = tmp
tmp = torch.zeros_like(C)
for i in range(n):
    for j in range(block_size):
        tmp[Xb[i, j]] += demb[i, j]
dC = tmp
