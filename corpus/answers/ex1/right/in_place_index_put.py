# In-place code of another kind: index_put_ with accumulate, fill_, copy_ and augmented stores into slices.
# answer: ex1-loss
dlogprobs = torch.zeros_like(logprobs)
dlogprobs.index_put_((torch.arange(n), Yb), torch.tensor(-1.0 / n), accumulate=True)
# answer: ex1-softmax
dprobs = torch.zeros_like(probs)
dprobs[:] = dlogprobs / probs
dcounts_sum_inv = torch.zeros_like(counts_sum_inv)
dcounts_sum_inv[:, 0] += (counts * dprobs).sum(1)
dcounts_sum = torch.zeros_like(counts_sum)
dcounts_sum[...] -= dcounts_sum_inv / counts_sum**2
dcounts = torch.zeros_like(counts)
dcounts[:, :] += dprobs * counts_sum_inv
dcounts[:, :] += dcounts_sum
# answer: ex1-max
dnorm_logits = torch.zeros_like(norm_logits).copy_(counts).mul_(dcounts)
dlogit_maxes = torch.zeros_like(logit_maxes).fill_(0.0)
dlogit_maxes[:, 0].sub_(dnorm_logits.sum(1))
dlogits = torch.zeros_like(logits)
dlogits += dnorm_logits
dlogits.index_put_((torch.arange(n), logits.argmax(1)), dlogit_maxes[:, 0], accumulate=True)
# answer: ex1-linear2
dh = torch.empty_like(h)
dh.copy_(dlogits @ W2.T)
dW2 = torch.zeros_like(W2)
dW2.add_(h.T @ dlogits)
db2 = torch.zeros_like(b2)
for row in dlogits:
    db2 += row
# answer: ex1-tanh
dhpreact = dh.clone()
dhpreact -= dh * h * h
# answer: ex1-batchnorm-scale
dbngain, dbnbias = torch.zeros_like(bngain), torch.zeros_like(bnbias)
dbngain[0] += (bnraw * dhpreact).sum(0)
dbnbias[0] += dhpreact.sum(0)
dbnraw = dhpreact.clone()
dbnraw[:] *= bngain
# answer: ex1-batchnorm-variance
dbnvar_inv = torch.zeros_like(bnvar_inv)
dbnvar_inv[0] += (bndiff * dbnraw).sum(0)
dbnvar = torch.zeros_like(bnvar)
dbnvar += -0.5 * bnvar_inv**3 * dbnvar_inv
dbndiff2 = torch.zeros_like(bndiff2)
dbndiff2[:] = dbnvar / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = torch.zeros_like(bndiff)
dbndiff += bnvar_inv * dbnraw
dbndiff += bndiff * dbndiff2
dbndiff += bndiff * dbndiff2
dbnmeani = torch.zeros_like(bnmeani)
dbnmeani[0] -= dbndiff.sum(0)
dhprebn = torch.zeros_like(hprebn)
dhprebn += dbndiff
dhprebn += dbnmeani / n
# answer: ex1-linear1
dembcat = torch.zeros_like(embcat)
dembcat += dhprebn @ W1.T
dW1 = torch.zeros_like(W1)
dW1 += embcat.T @ dhprebn
db1 = torch.zeros_like(b1)
db1 += dhprebn.sum(0)
# answer: ex1-embedding
demb = torch.zeros_like(emb)
demb[:] = dembcat.view_as(emb)
dC = torch.zeros_like(C)
dC.index_put_((Xb,), demb, accumulate=True)
