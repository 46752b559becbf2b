# Type annotations on every name, with and without a value, as an editor's linter likes it.
# answer: ex1-loss
from torch import Tensor

dlogprobs: Tensor = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1 / n
# answer: ex1-softmax
dprobs: Tensor = dlogprobs / probs
dcounts_sum_inv: Tensor
dcounts_sum: Tensor
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts: "Tensor" = counts_sum_inv * dprobs
dcounts += dcounts_sum
# answer: ex1-max
dnorm_logits: torch.Tensor = counts * dcounts
dlogit_maxes: torch.Tensor = -dnorm_logits.sum(1, keepdim=True)
winners: torch.LongTensor = logits.argmax(1)
dlogits: torch.Tensor = dnorm_logits.clone()
dlogits[range(n), winners] += dlogit_maxes.squeeze(1)
# answer: ex1-linear2
dh: torch.Tensor = dlogits @ W2.T
dW2: torch.Tensor = h.T @ dlogits
db2: torch.Tensor = dlogits.sum(0)
# answer: ex1-tanh
def tanh_back(y: Tensor, upstream: Tensor) -> Tensor:
    slope: Tensor = 1 - y**2
    return slope * upstream

dhpreact: Tensor = tanh_back(h, dh)
# answer: ex1-batchnorm-scale
eps: float = 1e-5
dbngain: Tensor = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias: Tensor = dhpreact.sum(0, keepdim=True)
dbnraw: Tensor = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv: Tensor = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar: Tensor = -0.5 * (bnvar + eps) ** -1.5 * dbnvar_inv
dbndiff2: Tensor = dbnvar.expand(n, n_hidden) / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff: Tensor = bnvar_inv * dbnraw + 2 * bndiff * dbndiff2
dbnmeani: Tensor = -dbndiff.sum(0, keepdim=True)
dhprebn: Tensor = dbndiff + dbnmeani / n
# answer: ex1-linear1
dembcat: Tensor = dhprebn @ W1.T
dW1: Tensor = embcat.T @ dhprebn
db1: Tensor = dhprebn.sum(0)
# answer: ex1-embedding
demb: Tensor = dembcat.view(emb.shape)
dC: Tensor = torch.zeros_like(C)
pairs: list[tuple[int, Tensor]] = list(zip(Xb.view(-1).tolist(), demb.view(-1, n_embd)))
ix: int
for ix, row in pairs:
    dC[ix] += row
