# Chained assignments: a gradient and a helper name get the same value in one statement.
# answer: ex1-loss
dlogprobs = g = torch.zeros_like(logprobs)
g[range(n), Yb] = -1 / n
# answer: ex1-softmax
dprobs = g = dlogprobs / probs
by_counts = dcounts_sum_inv = (counts * g).sum(1, keepdim=True)
dcounts_sum = by_sum = -by_counts / counts_sum**2
dcounts = total = (counts_sum_inv * dprobs).clone()
total += by_sum
# answer: ex1-max
dnorm_logits = down = counts * dcounts
dlogit_maxes = shift = -down.sum(1, keepdim=True)
dlogits = work = dnorm_logits.clone()
work.scatter_add_(1, logits.argmax(1, keepdim=True), shift)
# answer: ex1-linear2
g = upstream = dlogits
dh = g @ W2.T
dW2 = product = h.T @ upstream
db2 = column_sums = g.sum(0)
# answer: ex1-tanh
dhpreact = before_tanh = (1 - h**2) * dh
# answer: ex1-batchnorm-scale
dbngain = gain = (bnraw * before_tanh).sum(0, keepdim=True)
dbnbias = bias = before_tanh.sum(0, keepdim=True)
dbnraw = raw = bngain * before_tanh
# answer: ex1-batchnorm-variance
dbnvar_inv = a = (bndiff * raw).sum(0, keepdim=True)
dbnvar = b = -0.5 * (bnvar + 1e-5) ** -1.5 * a
dbndiff2 = c = b / (n - 1) * torch.ones_like(bndiff2)
# answer: ex1-batchnorm-mean
dbndiff = total = (bnvar_inv * raw).clone()
total += 2 * bndiff * c
dbnmeani = m = -total.sum(0, keepdim=True)
dhprebn = x = total.clone()
x += m / n
# answer: ex1-linear1
dembcat = y = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = e = y.view(emb.shape)
dC = table = torch.zeros_like(C)
table.index_add_(0, Xb.view(-1), e.view(-1, n_embd))
