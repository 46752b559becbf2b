# Whole Jacobian matrices: each local derivative is written out as a matrix and multiplied with the upstream.
# answer: ex1-loss
choose = F.one_hot(Yb, vocab_size).to(logits.dtype)
dlogprobs = choose * torch.full((n, 1), -1 / n)
# answer: ex1-softmax
def times(upstream, jacobian):
    return (upstream.unsqueeze(1) @ jacobian).squeeze(1)

dprobs = times(dlogprobs, torch.diag_embed(1 / probs))
dcounts_sum_inv = times(dprobs, counts.unsqueeze(2))
dcounts_sum = times(dcounts_sum_inv, torch.diag_embed(-(counts_sum**-2)))
dcounts = times(dprobs, torch.diag_embed(counts_sum_inv.expand(n, vocab_size)))
dcounts = dcounts + times(dcounts_sum, torch.ones(n, 1, vocab_size))
# answer: ex1-max
dnorm_logits = times(dcounts, torch.diag_embed(counts))
dlogit_maxes = times(dnorm_logits, -torch.ones(n, vocab_size, 1))
argmax_row = F.one_hot(logits.argmax(1), vocab_size).to(logits.dtype).unsqueeze(1)
dlogits = times(dnorm_logits, torch.eye(vocab_size).repeat(n, 1, 1)) + times(dlogit_maxes, argmax_row)
# answer: ex1-linear2
dh = times(dlogits, W2.T.expand(n, vocab_size, n_hidden))
dW2 = torch.einsum("nh,nv->nhv", h, dlogits).sum(0)
db2 = times(dlogits, torch.eye(vocab_size).expand(n, -1, -1)).sum(0)
# answer: ex1-tanh
dhpreact = times(dh, torch.diag_embed(1 - h**2))
# answer: ex1-batchnorm-scale
dbngain = times(dhpreact, torch.diag_embed(bnraw)).sum(0, keepdim=True)
dbnbias = times(dhpreact, torch.eye(n_hidden).expand(n, -1, -1)).sum(0, keepdim=True)
dbnraw = times(dhpreact, torch.diag_embed(bngain.expand(n, -1)))
# answer: ex1-batchnorm-variance
dbnvar_inv = times(dbnraw, torch.diag_embed(bndiff)).sum(0, keepdim=True)
dbnvar = times(dbnvar_inv, torch.diag_embed(-0.5 * (bnvar + 1e-5) ** -1.5))
dbndiff2 = torch.full((n, 1), 1 / (n - 1)) @ dbnvar
# answer: ex1-batchnorm-mean
dbndiff = times(dbnraw, torch.diag_embed(bnvar_inv.expand(n, -1))) + times(dbndiff2, torch.diag_embed(2 * bndiff))
dbnmeani = torch.full((1, n), -1.0) @ dbndiff
centring = torch.eye(n) - torch.full((n, n), 1 / n)
dhprebn = centring.T @ dbndiff
# answer: ex1-linear1
dembcat = times(dhprebn, W1.T.expand(n, -1, -1))
dW1 = torch.einsum("ne,nh->neh", embcat, dhprebn).sum(0)
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C)
for k in range(n):
    dC += F.one_hot(Xb[k], vocab_size).to(C.dtype).T @ demb[k]
