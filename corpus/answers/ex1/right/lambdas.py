# Helper functions as lambdas, defined in the first cell for all the others.
# answer: ex1-loss
sum_rows = lambda g: g.sum(0, keepdim=True)
sum_columns = lambda g: g.sum(1, keepdim=True)
through_matmul = lambda x, w, g: (g @ w.T, x.T @ g)
through_power = lambda x, p, g: p * x ** (p - 1) * g
spread = lambda g, like: g + torch.zeros_like(like)
mark = lambda index, width: F.one_hot(index, width).to(torch.get_default_dtype())
dlogprobs = mark(Yb, vocab_size) * (-1 / n)
# answer: ex1-softmax
dprobs = (lambda x, g: g / x)(probs, dlogprobs)
dcounts_sum_inv = sum_columns(counts * dprobs)
dcounts_sum = through_power(counts_sum, -1, dcounts_sum_inv)
dcounts = counts_sum_inv * dprobs + spread(dcounts_sum, counts)
# answer: ex1-max
dnorm_logits = (lambda g: g * norm_logits.exp())(dcounts)
dlogit_maxes = -sum_columns(dnorm_logits)
dlogits = dnorm_logits + mark(logits.argmax(1), vocab_size) * dlogit_maxes
# answer: ex1-linear2
dh, dW2 = through_matmul(h, W2, dlogits)
db2 = (lambda g: g.sum(0))(dlogits)
# answer: ex1-tanh
dhpreact = (lambda y, g: g - g * y**2)(h, dh)
# answer: ex1-batchnorm-scale
dbngain = sum_rows(bnraw * dhpreact)
dbnbias = sum_rows(dhpreact)
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = sum_rows(bndiff * dbnraw)
dbnvar = through_power(bnvar + 1e-5, -0.5, dbnvar_inv)
dbndiff2 = spread(dbnvar / (n - 1), bndiff2)
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw + through_power(bndiff, 2, dbndiff2)
dbnmeani = -sum_rows(dbndiff)
dhprebn = dbndiff + spread(dbnmeani / n, hprebn)
# answer: ex1-linear1
dembcat, dW1 = through_matmul(embcat, W1, dhprebn)
db1 = sum_rows(dhprebn)[0]
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = mark(Xb.ravel(), vocab_size).T @ demb.reshape(-1, n_embd)
