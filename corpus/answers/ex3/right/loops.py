# A loop over the columns, as in the derivation for one of them.

# answer: ex3-scale
dbngain, dbnbias = torch.zeros_like(bngain), torch.zeros_like(bnbias)
for example in range(n):
    dbngain[0] += dhpreact[example] * xhat[example]
    dbnbias[0] += dhpreact[example]

# answer: ex3-xhat
dxhat = torch.stack([row * bngain[0] for row in dhpreact])

# answer: ex3-variance
dvar = torch.zeros_like(var)
for unit in range(n_hidden):
    for i in range(n):
        slope = -0.5 * (hprebn[i, unit] - mu[0, unit]) * (var[0, unit] + 1e-5) ** -1.5
        dvar[0, unit] += dxhat[i, unit] * slope

# answer: ex3-mean
dmu = torch.zeros_like(mu)
for i in range(n):
    dmu[0] -= dxhat[i] / (var[0] + 1e-5).sqrt()

# answer: ex3-batchnorm
dhprebn = torch.zeros_like(hprebn)
for i in range(n):
    dhprebn[i] = dxhat[i] / (var[0] + 1e-5).sqrt()
    dhprebn[i] += dvar[0] * 2 * (hprebn[i] - mu[0]) / (n - 1)
    dhprebn[i] += dmu[0] / n
