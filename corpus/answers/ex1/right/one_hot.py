# One-hot matrix products: every choice of a row or a column is a product with a matrix of zeros and ones.
# answer: ex1-loss
dlogprobs = F.one_hot(Yb, num_classes=vocab_size).float() * (-1 / n)
# answer: ex1-softmax
dprobs = dlogprobs / probs
dcounts_sum_inv = (counts * dprobs) @ torch.ones(vocab_size, 1)
dcounts_sum = -dcounts_sum_inv / (counts_sum * counts_sum)
dcounts = dprobs * counts_sum_inv + dcounts_sum @ torch.ones(1, vocab_size)
# answer: ex1-max
dnorm_logits = dcounts * counts
dlogit_maxes = -dnorm_logits @ torch.ones(vocab_size, 1)
winners = F.one_hot(logits.argmax(dim=1), num_classes=vocab_size).to(torch.float32)
dlogits = dnorm_logits + dlogit_maxes * winners
# answer: ex1-linear2
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = torch.ones(n) @ dlogits
# answer: ex1-tanh
dhpreact = dh - dh * h * h
# answer: ex1-batchnorm-scale
dbngain = torch.ones(1, n) @ (dhpreact * bnraw)
dbnbias = torch.ones(1, n) @ dhpreact
dbnraw = dhpreact * bngain
# answer: ex1-batchnorm-variance
dbnvar_inv = torch.ones(1, n) @ (dbnraw * bndiff)
dbnvar = dbnvar_inv * bnvar_inv**3 / -2
dbndiff2 = torch.ones(n, 1) @ dbnvar / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = dbnraw * bnvar_inv + dbndiff2 * bndiff * 2
dbnmeani = torch.ones(1, n) @ -dbndiff
dhprebn = dbndiff + torch.ones(n, 1) @ dbnmeani / n
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = torch.ones(n) @ dhprebn
# answer: ex1-embedding
demb = dembcat.view(n, block_size, n_embd)
pick = F.one_hot(Xb.view(-1), num_classes=vocab_size).float()
dC = pick.T @ demb.view(-1, n_embd)
