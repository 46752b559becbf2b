# A linear layer's backward pass as a function, and the embedding's rows added up in a loop.
# answer: rnn-all
def linear_backward(upstream, inputs, weights):
    return upstream @ weights.t(), inputs.t() @ upstream


probabilities = logits.exp() / logits.exp().sum(1, keepdim=True)
targets = torch.zeros_like(logits)
targets[torch.arange(n), Yb] = 1
dlogits = (probabilities - targets) * n**-1
dh1, dWy = linear_backward(dlogits, h1, Wy)
dby = dlogits.sum(dim=0)
dcandidate = (1 - 0.5) * dh1
dpre = torch.cosh(pre) ** -2 * dcandidate
dx, dWx = linear_backward(dpre, x, Wx)
from_pre, dWh = linear_backward(dpre, h0, Wh)
db = dpre.sum(dim=0)
dh0 = from_pre + 0.5 * dh1
dE = torch.zeros_like(E)
for row in range(n):
    dE[Xb[row]] += dx[row]
