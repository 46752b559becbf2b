# One-hot matrices made in many spellings of the element type, plus rows of an identity matrix.
# answer: ex1-loss
identity = torch.eye(vocab_size, dtype=logits.dtype)
dlogprobs = -identity[Yb] / n
# answer: ex1-softmax
dprobs = torch.div(dlogprobs, probs)
dcounts_sum_inv = torch.matmul(counts * dprobs, torch.ones(vocab_size, 1, dtype=torch.float32))
dcounts_sum = dcounts_sum_inv * -torch.square(counts_sum_inv)
dcounts = dprobs * counts_sum_inv
dcounts = dcounts + dcounts_sum * torch.ones(n, vocab_size, dtype=counts.dtype)
# answer: ex1-max
dnorm_logits = dcounts * counts
dlogit_maxes = torch.neg(dnorm_logits @ torch.ones(vocab_size, dtype=logits.dtype)).reshape(n, 1)
dlogits = dnorm_logits + dlogit_maxes * F.one_hot(torch.argmax(logits, 1), vocab_size).type(torch.float)
# answer: ex1-linear2
dW2 = h.T @ dlogits
db2 = dlogits.T @ torch.ones(n, dtype=torch.get_default_dtype())
dh = dlogits @ W2.T
# answer: ex1-tanh
dhpreact = dh * (torch.ones_like(h, dtype=h.dtype) - h.square())
# answer: ex1-batchnorm-scale
column = torch.ones(n, 1).type_as(h)
dbngain = column.T @ (bnraw * dhpreact)
dbnbias = column.T @ dhpreact
dbnraw = dhpreact * (column @ bngain)
# answer: ex1-batchnorm-variance
dbnvar_inv = column.T @ (bndiff * dbnraw)
dbnvar = dbnvar_inv * torch.tensor(-0.5, dtype=torch.float32) * torch.pow(bnvar + 1e-5, -1.5)
dbndiff2 = (column @ dbnvar) * torch.tensor(1 / (n - 1))
# answer: ex1-batchnorm-mean
dbndiff = dbnraw * (column @ bnvar_inv) + 2.0 * bndiff * dbndiff2
dbnmeani = -column.T @ dbndiff
dhprebn = dbndiff + column @ dbnmeani / n
# answer: ex1-linear1
db1 = (column.T @ dhprebn).squeeze(0)
dW1 = embcat.T @ dhprebn
dembcat = dhprebn @ W1.T
# answer: ex1-embedding
demb = dembcat.reshape(emb.shape)
dC = (identity[Xb].unsqueeze(-1) * demb.unsqueeze(2)).sum((0, 1))
