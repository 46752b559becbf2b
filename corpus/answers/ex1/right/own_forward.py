# The forward pass again under the student's own names, so that nothing but inputs and parameters is read.
# answer: ex1-loss
B, T = Xb.shape
x0 = C[Xb]
x1 = x0.view(B, -1)
x2 = x1 @ W1 + b1
mu = x2.mean(0, keepdim=True)
xc = x2 - mu
var = xc.pow(2).sum(0, keepdim=True) / (B - 1)
istd = 1 / torch.sqrt(var + 1e-5)
xhat = xc * istd
a = bngain * xhat + bnbias
y = torch.tanh(a)
z = y @ W2 + b2
zmax = z.max(1, keepdim=True).values
e = torch.exp(z - zmax)
s = e.sum(1, keepdim=True)
p = e / s
dlogprobs = torch.zeros_like(p)
dlogprobs[range(B), Yb] = -1 / B
# answer: ex1-softmax
dprobs = dlogprobs / p
dcounts_sum_inv = (e * dprobs).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / s**2
dcounts = dprobs / s + dcounts_sum
# answer: ex1-max
dnorm_logits = e * dcounts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits + (z == zmax) * dlogit_maxes
# answer: ex1-linear2
dh = dlogits @ W2.T
dW2 = y.T @ dlogits
db2 = dlogits.sum(0)
# answer: ex1-tanh
dhpreact = (1 - y**2) * dh
# answer: ex1-batchnorm-scale
dbngain = (xhat * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (xc * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * istd**3 * dbnvar_inv
dbndiff2 = torch.ones_like(xc) / (B - 1) * dbnvar
# answer: ex1-batchnorm-mean
dbndiff = istd * dbnraw + 2 * xc * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + dbnmeani / B
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = x1.T @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(B, T, -1)
dC = torch.zeros_like(C)
for t in range(T):
    dC.index_add_(0, Xb[:, t], demb[:, t])
