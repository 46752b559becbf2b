# Broadcasting made visible: expand, repeat, tile, broadcast_to, repeat_interleave, expand_as, ones_like.
# answer: ex1-loss
every_class = torch.arange(vocab_size).expand(n, vocab_size)
dlogprobs = (every_class == Yb.unsqueeze(1).expand_as(every_class)).to(logprobs.dtype) / -n
# answer: ex1-softmax
dprobs = dlogprobs / probs
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = counts_sum_inv.expand(-1, vocab_size) * dprobs + dcounts_sum.repeat(1, vocab_size)
# answer: ex1-max
dnorm_logits = counts * dcounts
dlogit_maxes = dnorm_logits.sum(1, keepdim=True).neg()
spread = torch.broadcast_to(dlogit_maxes, logits.shape)
at_max = every_class == torch.broadcast_to(logits.argmax(1, keepdim=True), logits.shape)
dlogits = dnorm_logits + spread * at_max
# answer: ex1-linear2
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
# answer: ex1-tanh
dhpreact = (torch.ones_like(h) - h.pow(2)) * dh
# answer: ex1-batchnorm-scale
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain.expand(n, n_hidden) * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = torch.tile(dbnvar, (n, 1)) / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv.repeat_interleave(n, 0) * dbnraw + 2 * bndiff * dbndiff2
dbnmeani = dbndiff.sum(0, keepdim=True).neg()
dhprebn = dbndiff + dbnmeani.expand_as(dbndiff).div(n)
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
places = Xb.reshape(-1, 1).expand(-1, n_embd)
dC = torch.zeros_like(C).scatter_add_(0, places, demb.reshape(-1, n_embd))
