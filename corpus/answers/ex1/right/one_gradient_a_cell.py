# One gradient a cell: the student cut every answer cell into pieces and named the pieces.
# answer: ex1-dlogprobs
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1 / n
# answer: ex1-dprobs
dprobs = dlogprobs / probs
# answer: ex1-dcounts-first
dcounts = counts_sum_inv * dprobs
# answer: ex1-dcounts-sum-inv
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
# answer: ex1-dcounts-sum
dcounts_sum = -dcounts_sum_inv / counts_sum**2
# answer: ex1-dcounts-second
dcounts = dcounts + dcounts_sum
# answer: ex1-dnorm-logits
dnorm_logits = counts * dcounts
# answer: ex1-dlogit-maxes
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
# answer: ex1-dlogits
dlogits = dnorm_logits.clone()
dlogits[range(n), logits.argmax(1)] += dlogit_maxes[:, 0]
# answer: ex1-dh
dh = dlogits @ W2.T
# answer: ex1-dW2
dW2 = h.T @ dlogits
# answer: ex1-db2
db2 = dlogits.sum(0)
# answer: ex1-dhpreact
dhpreact = (1 - h**2) * dh
# answer: ex1-dbngain
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
# answer: ex1-dbnbias
dbnbias = dhpreact.sum(0, keepdim=True)
# answer: ex1-dbnraw
dbnraw = bngain * dhpreact
# answer: ex1-dbnvar-inv
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
# answer: ex1-dbnvar
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
# answer: ex1-dbndiff2
dbndiff2 = dbnvar.expand(n, n_hidden) / (n - 1)
# answer: ex1-dbndiff
dbndiff = bnvar_inv * dbnraw + 2 * bndiff * dbndiff2
# answer: ex1-dbnmeani
dbnmeani = -dbndiff.sum(0, keepdim=True)
# answer: ex1-dhprebn
dhprebn = dbndiff + dbnmeani / n
# answer: ex1-dembcat
dembcat = dhprebn @ W1.T
# answer: ex1-dW1
dW1 = embcat.T @ dhprebn
# answer: ex1-db1
db1 = dhprebn.sum(0)
# answer: ex1-demb
demb = dembcat.view(emb.shape)
# answer: ex1-dC
dC = torch.zeros_like(C)
for k in range(n):
    for j in range(block_size):
        dC[Xb[k, j]] += demb[k, j]
