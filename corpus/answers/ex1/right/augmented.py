# Augmented assignments: each gradient starts as a copy or as zeros, then grows by +=, -=, *=, /= and **=.
# answer: ex1-loss
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] -= 1
dlogprobs /= n
# answer: ex1-softmax
dprobs = probs.clone()
dprobs **= -1
dprobs *= dlogprobs
dcounts_sum_inv = 0
dcounts_sum_inv += (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = counts_sum.clone()
dcounts_sum **= -2
dcounts_sum *= -1
dcounts_sum *= dcounts_sum_inv
dcounts = 0
dcounts += counts_sum_inv * dprobs
dcounts += dcounts_sum
# answer: ex1-max
dnorm_logits = counts.clone()
dnorm_logits *= dcounts
dlogit_maxes = 0
dlogit_maxes -= dnorm_logits.sum(1, keepdim=True)
dlogits = 0
dlogits += dnorm_logits
dlogits += F.one_hot(logits.argmax(1), vocab_size) * dlogit_maxes
# answer: ex1-linear2
dh = dlogits
dh = dh @ W2.T
dW2 = h.T
dW2 = dW2 @ dlogits
db2 = 0
for row in dlogits:
    db2 = db2 + row
# answer: ex1-tanh
dhpreact = h.clone()
dhpreact **= 2
dhpreact *= -1
dhpreact += 1
dhpreact *= dh
# answer: ex1-batchnorm-scale
dbnbias = torch.zeros_like(bnbias)
dbnbias += dhpreact.sum(0)
dbngain = torch.zeros_like(bngain)
dbngain += (bnraw * dhpreact).sum(0)
dbnraw = dhpreact.clone()
dbnraw *= bngain
# answer: ex1-batchnorm-variance
dbnvar_inv = torch.zeros_like(bnvar_inv)
dbnvar_inv += (bndiff * dbnraw).sum(0)
dbnvar = bnvar + 1e-5
dbnvar **= -1.5
dbnvar *= -0.5
dbnvar *= dbnvar_inv
dbndiff2 = torch.ones_like(bndiff2)
dbndiff2 *= dbnvar
dbndiff2 /= n - 1
# answer: ex1-batchnorm-mean
dbndiff = bndiff.clone()
dbndiff *= 2
dbndiff *= dbndiff2
dbndiff += dbnraw * bnvar_inv
dbnmeani = torch.zeros_like(bnmeani)
dbnmeani -= dbndiff.sum(0)
dhprebn = dbnmeani.repeat(n, 1)
dhprebn /= n
dhprebn += dbndiff
# answer: ex1-linear1
dembcat = 0
dembcat += dhprebn @ W1.T
dW1 = 0
dW1 += embcat.T @ dhprebn
db1 = 0
db1 += dhprebn.sum(0)
# answer: ex1-embedding
demb = torch.zeros_like(emb)
demb += dembcat.view(emb.shape)
dC = torch.zeros_like(C)
for i in range(n):
    for j in range(block_size):
        dC[Xb[i, j]] += demb[i, j]
