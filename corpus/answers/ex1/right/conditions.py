# Conditions: if statements, conditional expressions and a match statement choose among spellings.
# answer: ex1-loss
if n > 1:
    share = 1 / n
else:
    share = 1.0
dlogprobs = torch.zeros_like(logprobs)
for i in range(n):
    for v in range(vocab_size):
        if v == int(Yb[i]):
            dlogprobs[i, v] = -share
# answer: ex1-softmax
if probs.min() > 0:
    dprobs = dlogprobs / probs
else:
    dprobs = torch.where(dlogprobs != 0, dlogprobs / probs, 0.0)
dcounts_sum_inv = (counts * dprobs).sum(1)
if dcounts_sum_inv.shape != counts_sum_inv.shape:
    dcounts_sum_inv = dcounts_sum_inv.view(n, 1)
dcounts_sum = -dcounts_sum_inv / counts_sum**2 if counts_sum.ndim == 2 else None
dcounts = None
for contribution in (dprobs * counts_sum_inv, dcounts_sum.expand(n, vocab_size)):
    if dcounts is None:
        dcounts = contribution.clone()
    else:
        dcounts += contribution
# answer: ex1-max
if dcounts.shape == counts.shape:
    dnorm_logits = dcounts * counts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits.clone()
if dlogit_maxes is not None:
    dlogits.scatter_add_(1, logits.argmax(1, keepdim=True), dlogit_maxes)
# answer: ex1-linear2
match W2.shape:
    case (rows, columns) if rows == h.shape[1]:
        dh = dlogits @ W2.T
        dW2 = h.T @ dlogits
    case _:
        raise ValueError("W2 has another shape")
db2 = dlogits.sum(0) if b2.ndim == 1 else dlogits.sum(0, keepdim=True)
# answer: ex1-tanh
dhpreact = dh * (1 - h**2) if True else dh
# answer: ex1-batchnorm-scale
if bngain.shape[0] == 1:
    dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
    dbnbias = dhpreact.sum(0, keepdim=True)
else:
    dbngain = bnraw * dhpreact
    dbnbias = dhpreact
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
power = -0.5
dbnvar = power * (bnvar + 1e-5) ** (power - 1) * dbnvar_inv
bessel = True
dbndiff2 = dbnvar.expand(n, -1) / (n - 1 if bessel else n)
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw
if bessel or n:
    dbndiff += 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff.clone()
if dbnmeani.shape[0] == 1:
    dhprebn += dbnmeani / n
# answer: ex1-linear1
dembcat = dhprebn @ (W1.T if W1.shape[1] == n_hidden else W1)
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C)
for character in range(vocab_size):
    here = Xb == character
    if not here.any():
        continue
    dC[character] = demb[here].sum(0)
