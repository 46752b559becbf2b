# Scratch names that are deleted again, star-unpacking, and local copies named after forward tensors.
# answer: ex1-loss
scratch = torch.zeros_like(logprobs)
scratch[[*range(n)], [*Yb.tolist()]] = -1 / n
dlogprobs = scratch.clone()
del scratch
# answer: ex1-softmax
probs_local, counts_local = probs.clone(), counts.clone()
dprobs = dlogprobs / probs_local
dcounts_sum_inv = (counts_local * dprobs).sum(1, keepdim=True)
counts_sum_local = counts_local.sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum_local**2
dcounts = dprobs / counts_sum_local + dcounts_sum
del probs_local, counts_local, counts_sum_local
# answer: ex1-max
dnorm_logits = counts * dcounts
head, *rest = dnorm_logits.unbind(1)
dlogit_maxes = -torch.stack([head, *rest]).sum(0).view(n, 1)
del head, rest
dlogits = dnorm_logits.clone()
for row, column in enumerate(logits.argmax(1)):
    dlogits[row, column] += dlogit_maxes[row, 0]
del row, column
# answer: ex1-linear2
args = (h, W2, dlogits)
def linear_back(x, w, g, *ignored):
    return [g @ w.T, x.T @ g, g.sum(0), *ignored]
dh, *others = linear_back(*args)
dW2, db2 = others
del args, others
# answer: ex1-tanh
h_local = h.detach().clone()
h_local.pow_(2).neg_().add_(1)
dhpreact = h_local * dh
del h_local
# answer: ex1-batchnorm-scale
bnvar_inv_local = (bnvar + 1e-5) ** -0.5
bndiff_local = hprebn - hprebn.mean(0, keepdim=True)
bnraw_local = bndiff_local * bnvar_inv_local
dbngain = (bnraw_local * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff_local * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * bnvar_inv_local**3 * dbnvar_inv
bnvar_inv_local = bnvar_inv_local.expand(n, -1)
dbndiff = bnvar_inv_local * dbnraw
dbndiff2 = dbnvar.expand(n, -1) / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = dbndiff + 2 * bndiff_local * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + dbnmeani / n
del bnvar_inv_local
# answer: ex1-linear1
dembcat, dW1, db1 = [*linear_back(embcat, W1, dhprebn)]
# answer: ex1-embedding
shape = (*Xb.shape, n_embd)
demb = dembcat.view(*shape)
dC = torch.zeros(*C.shape)
for ix, g in zip([*Xb.flatten()], [*demb.flatten(0, 1)]):
    dC[ix] += g
