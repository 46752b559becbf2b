# Helper functions with closures: each factory remembers forward values and returns the way back.
# answer: ex1-loss
def back_through_pick(shape, index):
    def back(upstream):
        out = torch.zeros(shape)
        out[range(len(index)), index] = upstream
        return out
    return back

def back_through_product(a, b):
    def back(upstream):
        return reduce_to(upstream * b, a.shape), reduce_to(upstream * a, b.shape)
    return back

def reduce_to(g, shape):
    for axis, size in enumerate(shape):
        if size == 1 and g.shape[axis] != 1:
            g = g.sum(axis, keepdim=True)
    return g

def back_through_linear(x, w):
    def back(upstream):
        return upstream @ w.T, x.T @ upstream, upstream.sum(0)
    return back

dlogprobs = back_through_pick(logprobs.shape, Yb)(-1 / n)
# answer: ex1-softmax
dprobs = dlogprobs / probs
first_part, dcounts_sum_inv = back_through_product(counts, counts_sum_inv)(dprobs)
dcounts_sum = -dcounts_sum_inv * counts_sum**-2
dcounts = first_part + dcounts_sum
# answer: ex1-max
def back_through_exp(y):
    return lambda upstream: upstream * y

dnorm_logits = back_through_exp(counts)(dcounts)

def back_through_max(x):
    where = x.argmax(1)

    def back(upstream):
        return torch.zeros_like(x).index_put((torch.arange(len(x)), where), upstream.squeeze(1))

    return back

dlogit_maxes = -reduce_to(dnorm_logits, logit_maxes.shape)
dlogits = dnorm_logits + back_through_max(logits)(dlogit_maxes)
# answer: ex1-linear2
dh, dW2, db2 = back_through_linear(h, W2)(dlogits)
# answer: ex1-tanh
def back_through_tanh(y):
    slope = 1 - y * y
    return lambda upstream: slope * upstream

dhpreact = back_through_tanh(h)(dh)
# answer: ex1-batchnorm-scale
dbngain, dbnraw = back_through_product(bngain, bnraw)(dhpreact)
dbnbias = reduce_to(dhpreact, bnbias.shape)
# answer: ex1-batchnorm-variance
through_scaling = back_through_product(bndiff, bnvar_inv)
dbnvar_inv = through_scaling(dbnraw)[1]
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = dbnvar.expand(bndiff2.shape) / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = through_scaling(dbnraw)[0] + 2 * bndiff * dbndiff2
dbnmeani = -reduce_to(dbndiff, bnmeani.shape)
dhprebn = dbndiff + dbnmeani / n
# answer: ex1-linear1
dembcat, dW1, db1 = back_through_linear(embcat, W1)(dhprebn)
# answer: ex1-embedding
demb = dembcat.view(emb.shape)

def back_through_lookup(table, index):
    def back(upstream):
        out = torch.zeros_like(table)
        for row, g in zip(index.reshape(-1).tolist(), upstream.reshape(-1, table.shape[1])):
            out[row] += g
        return out
    return back

dC = back_through_lookup(C, Xb)(demb)
