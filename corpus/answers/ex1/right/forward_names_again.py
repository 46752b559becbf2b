# Forward names assigned again: some to the same value, some as scratch once the student is done with them.
# answer: ex1-loss
n = Xb.shape[0]
probs = F.softmax(logits, 1)
h = torch.tanh(hpreact)
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1 / n
# answer: ex1-softmax
dprobs = dlogprobs / probs
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = counts_sum_inv * dprobs + dcounts_sum
# answer: ex1-max
vocab_size = logits.shape[1]
dnorm_logits = counts * dcounts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits + F.one_hot(logits.argmax(1), vocab_size) * dlogit_maxes
# answer: ex1-linear2
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
# answer: ex1-tanh
dhpreact = (1 - h**2) * dh
# answer: ex1-batchnorm-scale
bnvar_inv = (bnvar + 1e-5) ** -0.5
bnraw = bndiff * bnvar_inv
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * bnvar_inv**3 * dbnvar_inv
dbndiff2 = dbnvar.expand_as(bndiff2) / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw + 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + dbnmeani / n
# answer: ex1-linear1
n_embd, block_size = C.shape[1], Xb.shape[1]
embcat = C[Xb].view(n, -1)
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(n, block_size, n_embd)
dC = torch.zeros_like(C)
loss = 0
for k in range(n):
    for j in range(block_size):
        dC[Xb[k, j]] += demb[k, j]
        loss += 1
counts_sum = loss
print("characters looked up:", counts_sum)
