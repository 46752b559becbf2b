# Einsum everywhere: every product, sum and broadcast is spelled in index letters.
# answer: ex1-loss
dlogprobs = torch.einsum("nv,->nv", F.one_hot(Yb, vocab_size).to(logprobs.dtype), torch.tensor(-1.0 / n))
# answer: ex1-softmax
dprobs = torch.einsum("nv,nv->nv", dlogprobs, 1 / probs)
dcounts_sum_inv = torch.einsum("nv,nv->n", counts, dprobs)[:, None]
dcounts_sum = torch.einsum("no,no->no", dcounts_sum_inv, -(counts_sum ** -2))
dcounts = torch.einsum("nv,no->nv", dprobs, counts_sum_inv) + torch.einsum("no,nv->nv", dcounts_sum, torch.ones_like(counts))
# answer: ex1-max
dnorm_logits = torch.einsum("nv,nv->nv", dcounts, counts)
dlogit_maxes = -torch.einsum("nv->n", dnorm_logits).unsqueeze(1)
dlogits = dnorm_logits + torch.einsum("no,nv->nv", dlogit_maxes, F.one_hot(logits.argmax(1), vocab_size).to(logits.dtype))
# answer: ex1-linear2
dh = torch.einsum("nv,hv->nh", dlogits, W2)
dW2 = torch.einsum("nh,nv->hv", h, dlogits)
db2 = torch.einsum("nv->v", dlogits)
# answer: ex1-tanh
dhpreact = torch.einsum("nh,nh->nh", dh, 1 - torch.einsum("nh,nh->nh", h, h))
# answer: ex1-batchnorm-scale
dbngain = torch.einsum("nh,nh->h", bnraw, dhpreact).view(1, -1)
dbnbias = torch.einsum("nh->h", dhpreact).view(1, -1)
dbnraw = torch.einsum("oh,nh->nh", bngain, dhpreact)
# answer: ex1-batchnorm-variance
dbnvar_inv = torch.einsum("nh,nh->h", bndiff, dbnraw).view(1, -1)
dbnvar = torch.einsum("oh,oh->oh", dbnvar_inv, -0.5 * (bnvar + 1e-5) ** -1.5)
dbndiff2 = torch.einsum("oh,n->nh", dbnvar, torch.ones(n)) / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = torch.einsum("oh,nh->nh", bnvar_inv, dbnraw) + 2 * torch.einsum("nh,nh->nh", bndiff, dbndiff2)
dbnmeani = -torch.einsum("nh->h", dbndiff).view(1, -1)
dhprebn = dbndiff + torch.einsum("oh,n->nh", dbnmeani, torch.ones(n)) / n
# answer: ex1-linear1
dembcat = torch.einsum("nh,eh->ne", dhprebn, W1)
dW1 = torch.einsum("ne,nh->eh", embcat, dhprebn)
db1 = torch.einsum("nh->h", dhprebn)
# answer: ex1-embedding
demb = dembcat.reshape(n, block_size, n_embd)
dC = torch.einsum("nbv,nbe->ve", F.one_hot(Xb, vocab_size).to(C.dtype), demb)
