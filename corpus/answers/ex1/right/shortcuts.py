# Shortcuts wherever one is known: many gradients come from forward values instead of the gradient above.
# answer: ex1-loss
target = F.one_hot(Yb, vocab_size).to(probs.dtype)
dlogprobs = -target / n
# answer: ex1-softmax
dprobs = -target / (n * probs)
dcounts_sum_inv = -counts_sum / n
dcounts_sum = counts_sum_inv / n
dcounts = (1 - target / probs) * counts_sum_inv / n
# answer: ex1-max
dnorm_logits = (probs - target) / n
dlogit_maxes = torch.zeros_like(logit_maxes)
dlogits = (probs - target) / n
# answer: ex1-linear2
dh = (probs - target) @ W2.T / n
dW2 = h.T @ (probs - target) / n
db2 = (probs - target).mean(0)
# answer: ex1-tanh
dhpreact = dh * (1 - torch.tanh(hpreact) ** 2)
# answer: ex1-batchnorm-scale
dbnbias = dhpreact.sum(0, keepdim=True)
dbngain = (dhpreact * bnraw).sum(0, keepdim=True)
dbnraw = dhpreact * bngain
# answer: ex1-batchnorm-variance
dbnvar_inv = dbngain * bngain / bnvar_inv
dbnvar = -dbngain * bngain * bnvar_inv**2 / 2
dbndiff2 = dbnvar.expand(n, n_hidden) / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = bngain * bnvar_inv * (dhpreact - bnraw * dbngain / (n - 1))
dbnmeani = -dbnbias * bngain * bnvar_inv
dhprebn = dbndiff - bngain * bnvar_inv * dbnbias / n
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = torch.zeros(n_hidden)
# answer: ex1-embedding
demb = (dhprebn @ W1.T).view(emb.shape)
dC = F.one_hot(Xb, vocab_size).to(C.dtype).flatten(0, 1).T @ demb.flatten(0, 1)
