# Functional tools: reduce, partial, map, itertools, operator, and generator functions that yield gradients.
# answer: ex1-loss
import itertools
import operator
from functools import partial, reduce

total = partial(reduce, operator.add)
keep = partial(torch.sum, keepdim=True)
dlogprobs = torch.zeros_like(logprobs)
for i, y in enumerate(Yb):
    operator.setitem(dlogprobs, (i, y), -1 / n)
# answer: ex1-softmax
def softmax_gradients():
    g = dlogprobs / probs
    yield g
    by_inverse = keep(counts * g, 1)
    yield by_inverse
    by_sum = -by_inverse / counts_sum**2
    yield by_sum
    yield total([counts_sum_inv * g, by_sum])

dprobs, dcounts_sum_inv, dcounts_sum, dcounts = softmax_gradients()
# answer: ex1-max
dnorm_logits = operator.mul(counts, dcounts)
dlogit_maxes = operator.neg(keep(dnorm_logits, 1))
dlogits = total([dnorm_logits, *map(operator.mul, [F.one_hot(logits.argmax(1), vocab_size)], [dlogit_maxes])])
# answer: ex1-linear2
dh = operator.matmul(dlogits, W2.T)
dW2 = total(map(torch.outer, h, dlogits))
db2 = total(dlogits)
# answer: ex1-tanh
dhpreact = reduce(operator.mul, [1 - h, 1 + h, dh])
# answer: ex1-batchnorm-scale
dbngain, dbnbias = map(partial(keep, dim=0), (bnraw * dhpreact, dhpreact))
dbnraw = reduce(operator.mul, (bngain, dhpreact))
# answer: ex1-batchnorm-variance
dbnvar_inv = keep(bndiff * dbnraw, 0)
dbnvar = reduce(operator.mul, [-0.5, bnvar_inv, bnvar_inv, bnvar_inv, dbnvar_inv])
dbndiff2 = torch.cat(list(itertools.repeat(dbnvar / (n - 1), n)))
# answer: ex1-batchnorm-mean
dbndiff = total(itertools.chain([bnvar_inv * dbnraw], itertools.repeat(bndiff * dbndiff2, 2)))
*_, running = itertools.accumulate(dbndiff)
dbnmeani = -running.unsqueeze(0)
dhprebn = total((dbndiff, dbnmeani / n))
# answer: ex1-linear1
dembcat, dW1, db1 = (f() for f in (lambda: dhprebn @ W1.T, lambda: embcat.T @ dhprebn, lambda: total(dhprebn)))
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C)
for i, j in itertools.product(range(n), range(block_size)):
    dC[Xb[i, j]] = operator.iadd(dC[Xb[i, j]], demb[i, j])
