# Sparse matrices for the choices: what selects rows or columns is a sparse tensor of ones.
# answer: ex1-loss
def selector(columns, width):
    places = torch.stack([torch.arange(len(columns)), columns])
    return torch.sparse_coo_tensor(places, torch.ones(len(columns)), (len(columns), width), check_invariants=True)

dlogprobs = selector(Yb, vocab_size).to_dense() * (-1 / n)
# answer: ex1-softmax
dprobs = dlogprobs / probs
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = counts_sum_inv * dprobs + dcounts_sum
# answer: ex1-max
dnorm_logits = counts * dcounts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits + selector(logits.argmax(1), vocab_size).to_dense() * dlogit_maxes
# answer: ex1-linear2
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
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
dbndiff2 = dbnvar.expand(n, n_hidden) / (n - 1)
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
dC = torch.sparse.mm(selector(Xb.view(-1), vocab_size).t(), demb.view(-1, n_embd))
