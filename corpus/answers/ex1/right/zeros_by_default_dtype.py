# Zeros and constants made with sizes and default types, and a max branch added although its upstream is zero.
# answer: ex1-loss
dlogprobs = torch.zeros(n, vocab_size)
dlogprobs[torch.arange(n), Yb] = torch.full((n,), -1.0) / n
# answer: ex1-softmax
dprobs = torch.zeros(n, vocab_size)
dprobs[torch.arange(n), Yb] = dlogprobs[torch.arange(n), Yb] / probs[torch.arange(n), Yb]
dcounts_sum_inv = torch.zeros(n, 1) + (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = torch.tensor(-1.0) * dcounts_sum_inv * counts_sum ** torch.tensor(-2.0)
dcounts = torch.ones(n, vocab_size) * dcounts_sum + dprobs * counts_sum_inv
# answer: ex1-max
dnorm_logits = counts * dcounts
dlogit_maxes = torch.zeros(n, 1)
dlogits = torch.zeros(n, vocab_size)
dlogits += dnorm_logits
dlogits[torch.arange(n), logits.argmax(1)] += dlogit_maxes[:, 0]
# answer: ex1-linear2
dh = torch.zeros(n, n_hidden) + dlogits @ W2.T
dW2 = torch.zeros(n_hidden, vocab_size) + h.T @ dlogits
db2 = torch.zeros(vocab_size) + dlogits.sum(0)
# answer: ex1-tanh
dhpreact = (torch.ones(n, n_hidden) - h**2) * dh
# answer: ex1-batchnorm-scale
dbngain = torch.zeros(1, n_hidden) + (bnraw * dhpreact).sum(0)
dbnbias = torch.zeros(1, n_hidden) + dhpreact.sum(0)
dbnraw = torch.ones(n, 1) * bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = torch.zeros(1, n_hidden) + (bndiff * dbnraw).sum(0)
dbnvar = torch.full((1, n_hidden), -0.5) * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = torch.ones(n, n_hidden) * dbnvar / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = torch.zeros(n, n_hidden)
dbndiff += bnvar_inv * dbnraw
dbndiff += torch.tensor(2.0) * bndiff * dbndiff2
dbnmeani = torch.zeros(1, n_hidden) - dbndiff.sum(0)
dhprebn = torch.zeros(n, n_hidden) + dbndiff + torch.tensor(1.0 / n) * dbnmeani
# answer: ex1-linear1
dembcat = torch.zeros(n, block_size * n_embd) + dhprebn @ W1.T
dW1 = torch.zeros(block_size * n_embd, n_hidden) + embcat.T @ dhprebn
db1 = torch.zeros(n_hidden)
# answer: ex1-embedding
demb = torch.zeros(n, block_size, n_embd) + dembcat.view(n, block_size, n_embd)
dC = torch.zeros(vocab_size, n_embd)
for character in range(vocab_size):
    dC[character] = demb[Xb == character].sum(0)
