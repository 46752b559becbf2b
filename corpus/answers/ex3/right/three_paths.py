# The last gradient as the sum of its three paths, each with the gradient at its end.

# answer: ex3-scale
dbngain = torch.einsum("nh,nh->h", dhpreact, xhat).unsqueeze(0)
dbnbias = torch.einsum("nh->h", dhpreact).unsqueeze(0)

# answer: ex3-xhat
dxhat = dhpreact * bngain

# answer: ex3-variance
scale = 1 / torch.sqrt(var + 1e-5)
dvar = torch.sum(dxhat * (hprebn - mu), 0, keepdim=True) * -0.5 * scale**3

# answer: ex3-mean
dmu = -(dxhat * scale).sum(0, keepdim=True) - dvar * (2 * (hprebn - mu)).sum(0, keepdim=True) / (n - 1)

# answer: ex3-batchnorm
through_xhat = dxhat * scale
through_var = dvar * 2 * (hprebn - mu) / (n - 1)
through_mu = dmu / n
dhprebn = through_xhat + through_var + through_mu
