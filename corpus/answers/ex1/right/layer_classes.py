# Small classes for layers: each keeps what its way back needs.
# answer: ex1-loss
from collections import namedtuple
from dataclasses import dataclass

LinearGradients = namedtuple("LinearGradients", "input weight bias")

class Linear:
    def __init__(self, x, weight):
        self.x = x
        self.weight = weight

    def pull(self, upstream):
        return LinearGradients(upstream @ self.weight.T, self.x.T @ upstream, upstream.sum(0))

class Tanh:
    def __init__(self, output):
        self.output = output

    def __call__(self, upstream):
        return upstream * (1 - self.output**2)

@dataclass
class Multiply:
    left: torch.Tensor
    right: torch.Tensor

    def to_left(self, upstream):
        return self.reduced(upstream * self.right, self.left)

    def to_right(self, upstream):
        return self.reduced(upstream * self.left, self.right)

    @staticmethod
    def reduced(g, like):
        for axis in range(g.ndim):
            if like.shape[axis] == 1:
                g = g.sum(axis, keepdim=True)
        return g

class MeanLoss:
    @classmethod
    def pull(cls, shape, targets):
        out = torch.zeros(shape)
        out[torch.arange(len(targets)), targets] = -1 / len(targets)
        return out

dlogprobs = MeanLoss.pull(logprobs.shape, Yb)
# answer: ex1-softmax
dprobs = dlogprobs / probs
division = Multiply(counts, counts_sum_inv)
dcounts_sum_inv = division.to_right(dprobs)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = division.to_left(dprobs) + dcounts_sum
# answer: ex1-max
dnorm_logits = Multiply(counts, dcounts).to_left(torch.ones_like(counts)) * counts
dlogit_maxes = Multiply.reduced(-dnorm_logits, logit_maxes)
dlogits = dnorm_logits + F.one_hot(logits.argmax(1), vocab_size) * dlogit_maxes
# answer: ex1-linear2
second = Linear(h, W2)
dh, dW2, db2 = second.pull(dlogits)
# answer: ex1-tanh
dhpreact = Tanh(h)(dh)
# answer: ex1-batchnorm-scale
class Norm:
    """Batch normalisation that fills its own attributes on the way back."""

    def walk_back(self, upstream):
        gain, scaling = Multiply(bngain, bnraw), Multiply(bndiff, bnvar_inv)
        self.gain, self.raw = gain.to_left(upstream), gain.to_right(upstream)
        self.bias = Multiply.reduced(upstream, bnbias)
        self.var_inv = scaling.to_right(self.raw)
        self.var = -0.5 * (bnvar + 1e-5) ** -1.5 * self.var_inv
        self.diff2 = self.var.repeat(n, 1) / (n - 1)
        self.diff = scaling.to_left(self.raw) + 2 * bndiff * self.diff2
        self.mean = Multiply.reduced(-self.diff, bnmeani)
        self.input = self.diff + self.mean / n
        return self

norm = Norm().walk_back(dhpreact)
dbngain, dbnbias, dbnraw = norm.gain, norm.bias, norm.raw
# answer: ex1-batchnorm-variance
dbnvar_inv, dbnvar, dbndiff2 = norm.var_inv, norm.var, norm.diff2
# answer: ex1-batchnorm-mean
dbndiff, dbnmeani, dhprebn = norm.diff, norm.mean, norm.input
# answer: ex1-linear1
first = Linear(embcat, W1).pull(dhprebn)
dembcat = first.input
dW1 = first.weight
db1 = first.bias
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C).index_add(0, Xb.view(-1), demb.view(-1, n_embd))
