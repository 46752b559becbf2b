# Double precision inside each line, and the tensor's own precision in the result.
# answer: ex1-loss
def back_to(like, value):
    return value.to(like.dtype)

dlogprobs = back_to(logprobs, -F.one_hot(Yb, vocab_size).double() / n)
# answer: ex1-softmax
dprobs = back_to(probs, dlogprobs.double() / probs.double())
dcounts_sum_inv = back_to(counts, (counts.double() * dprobs).sum(1, keepdim=True))
dcounts_sum = (-dcounts_sum_inv.to(torch.float64) * counts_sum.to(torch.float64) ** -2).type_as(counts_sum)
dcounts = (counts_sum_inv.double() * dprobs + dcounts_sum).to(counts)
# answer: ex1-max
dnorm_logits = (counts.double() * dcounts.double()).type(counts.dtype)
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits.double()
dlogits[range(n), logits.argmax(1)] += dlogit_maxes.double()[:, 0]
dlogits = dlogits.type_as(logits)
# answer: ex1-linear2
dh = (dlogits.double() @ W2.double().T).to(h.dtype)
dW2 = (h.double().T @ dlogits.double()).to(W2.dtype)
db2 = dlogits.sum(0, dtype=torch.float64).to(b2.dtype)
# answer: ex1-tanh
dhpreact = ((1 - h.double() ** 2) * dh.double()).float()
# answer: ex1-batchnorm-scale
g = dhpreact.double()
dbngain = (bnraw.double() * g).sum(0, keepdim=True).float()
dbnbias = g.sum(0, keepdim=True).float()
dbnraw = (bngain.double() * g).float()
g = dbnraw.double()
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff.double() * g).sum(0, keepdim=True).float()
dbnvar = (-0.5 * (bnvar.double() + 1e-5) ** -1.5 * dbnvar_inv.double()).float()
dbndiff2 = (dbnvar.double().expand(n, -1) / (n - 1)).float()
# answer: ex1-batchnorm-mean
dbndiff = (bnvar_inv.double() * g + 2 * bndiff.double() * dbndiff2.double()).float()
g = dbndiff.double()
dbnmeani = -g.sum(0, keepdim=True).float()
dhprebn = (g - g.mean(0, keepdim=True)).to(torch.float)
# answer: ex1-linear1
dembcat = (dhprebn.double() @ W1.double().T).to(torch.get_default_dtype())
dW1 = (embcat.double().T @ dhprebn.double()).to(torch.get_default_dtype())
db1 = dhprebn.double().sum(0).to(dhprebn)
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C, dtype=torch.double)
dC.index_add_(0, Xb.view(-1), demb.double().view(-1, n_embd))
dC = dC.to(C.dtype)
