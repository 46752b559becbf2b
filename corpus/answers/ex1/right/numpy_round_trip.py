# A round trip through numpy: arrays inside, torch.from_numpy at the end of each line.
# answer: ex1-loss
import numpy as np

def a(tensor):
    return tensor.detach().cpu().numpy()

def t(array):
    return torch.from_numpy(np.ascontiguousarray(array))

g = np.zeros_like(a(logprobs))
g[np.arange(n), a(Yb)] = -1.0 / n
dlogprobs = t(g)
# answer: ex1-softmax
dprobs = t(a(dlogprobs) / a(probs))
dcounts_sum_inv = t(np.sum(a(counts) * a(dprobs), axis=1, keepdims=True))
dcounts_sum = t(-a(dcounts_sum_inv) / np.square(a(counts_sum)))
dcounts = t(a(counts_sum_inv) * a(dprobs) + np.broadcast_to(a(dcounts_sum), counts.shape))
# answer: ex1-max
dnorm_logits = t(a(counts) * a(dcounts))
dlogit_maxes = t(-a(dnorm_logits).sum(axis=1)[:, np.newaxis])
g = a(dnorm_logits).copy()
np.add.at(g, (np.arange(n), np.argmax(a(logits), axis=1)), a(dlogit_maxes)[:, 0])
dlogits = t(g)
# answer: ex1-linear2
dh = t(np.dot(a(dlogits), a(W2).T))
dW2 = t(np.matmul(a(h).T, a(dlogits)))
db2 = t(np.add.reduce(a(dlogits), axis=0))
# answer: ex1-tanh
dhpreact = t((1 - a(h) ** 2) * a(dh))
# answer: ex1-batchnorm-scale
dbngain = t(np.einsum("nh,nh->h", a(bnraw), a(dhpreact))[None, :])
dbnbias = t(a(dhpreact).sum(0, keepdims=True))
dbnraw = t(a(bngain) * a(dhpreact))
# answer: ex1-batchnorm-variance
dbnvar_inv = t((a(bndiff) * a(dbnraw)).sum(0, keepdims=True))
dbnvar = t(-0.5 * np.power(a(bnvar) + 1e-5, -1.5) * a(dbnvar_inv))
dbndiff2 = t(np.tile(a(dbnvar), (n, 1)) / (n - 1))
# answer: ex1-batchnorm-mean
dbndiff = t(a(bnvar_inv) * a(dbnraw) + 2 * a(bndiff) * a(dbndiff2))
dbnmeani = t(-a(dbndiff).sum(0, keepdims=True))
dhprebn = t(a(dbndiff) + a(dbnmeani) / n)
# answer: ex1-linear1
dembcat = t(a(dhprebn) @ a(W1).T)
dW1 = t(a(embcat).T @ a(dhprebn))
db1 = t(a(dhprebn).sum(0))
# answer: ex1-embedding
demb = t(a(dembcat).reshape(n, block_size, n_embd))
g = np.zeros_like(a(C))
np.add.at(g, a(Xb), a(demb))
dC = t(g)
