# The lecture's line with its names, defined on the way.

# answer: ex3-scale
bnraw = xhat
bnvar_inv = (var + 1e-5) ** -0.5
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)

# answer: ex3-xhat
dxhat = bngain * dhpreact

# answer: ex3-variance
dvar = (dxhat * (hprebn - mu) * -0.5 * bnvar_inv**3).sum(0, keepdim=True)

# answer: ex3-mean
dmu = (-dxhat * bnvar_inv).sum(0, keepdim=True)

# answer: ex3-batchnorm
dhprebn = (
    bngain * bnvar_inv / n * (n * dhpreact - dhpreact.sum(0) - n / (n - 1) * bnraw * (dhpreact * bnraw).sum(0))
)
