# With means in place of the sums over n.

# answer: ex3-scale
dbngain = (dhpreact * xhat).mean(0, keepdim=True) * n
dbnbias = dhpreact.mean(0, keepdim=True) * n

# answer: ex3-xhat
dxhat = torch.mul(dhpreact, bngain)

# answer: ex3-variance
dvar = -(dxhat * xhat).sum(0, keepdim=True) / (2 * (var + 1e-5))

# answer: ex3-mean
dmu = -dxhat.sum(0, keepdim=True).div(torch.sqrt(var + 1e-5))

# answer: ex3-batchnorm
centred = dxhat - dxhat.mean(0)
dhprebn = (centred - xhat * (dxhat * xhat).sum(0) / (n - 1)) * torch.rsqrt(var + 1e-5)
