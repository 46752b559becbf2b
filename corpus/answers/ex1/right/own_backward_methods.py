# Layers whose own method is called backward, as in a tiny engine written by hand; no autograd anywhere.
# answer: ex1-loss
class Layer:
    def backward(self, upstream):
        raise NotImplementedError

class Dense(Layer):
    def __init__(self, x, weight):
        self.x, self.weight = x, weight

    def backward(self, upstream):
        self.dweight = self.x.T @ upstream
        self.dbias = upstream.sum(0)
        return upstream @ self.weight.T

class Tanh(Layer):
    def __init__(self, y):
        self.y = y

    def backward(self, upstream):
        return (1 - self.y**2) * upstream

class Divide(Layer):
    def backward(self, upstream):
        self.dinverse = (counts * upstream).sum(1, keepdim=True)
        self.dsum = -self.dinverse / counts_sum**2
        return counts_sum_inv * upstream + self.dsum

dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1 / n
# answer: ex1-softmax
divide = Divide()
dprobs = dlogprobs / probs
dcounts = divide.backward(dprobs)
dcounts_sum_inv = divide.dinverse
dcounts_sum = divide.dsum
# answer: ex1-max
dnorm_logits = counts * dcounts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits.clone()
dlogits[range(n), logits.argmax(1)] += dlogit_maxes.squeeze(1)
# answer: ex1-linear2
output_layer = Dense(h, W2)
dh = output_layer.backward(dlogits)
dW2, db2 = output_layer.dweight, output_layer.dbias
# answer: ex1-tanh
dhpreact = Tanh(h).backward(dh)
# answer: ex1-batchnorm-scale
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = torch.ones_like(bndiff2) / (n - 1) * dbnvar
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw + 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + dbnmeani / n
# answer: ex1-linear1
hidden_layer = Dense(embcat, W1)
dembcat = hidden_layer.backward(dhprebn)
dW1, db1 = hidden_layer.dweight, hidden_layer.dbias
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C)
for ix, g in zip(Xb.view(-1), demb.view(-1, n_embd)):
    dC[ix] += g
