# As derived in the notebook: each small answer uses the one before, the last is one expression.

# answer: ex3-scale
dbngain = (dhpreact * xhat).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)

# answer: ex3-xhat
dxhat = dhpreact * bngain

# answer: ex3-variance
dvar = -0.5 * (var + 1e-5) ** -1.5 * (dxhat * (hprebn - mu)).sum(0, keepdim=True)

# answer: ex3-mean
dmu = -((var + 1e-5) ** -0.5) * dxhat.sum(0, keepdim=True)

# answer: ex3-batchnorm
dhprebn = (
    bngain
    * (var + 1e-5) ** -0.5
    / n
    * (
        n * dhpreact
        - dhpreact.sum(0, keepdim=True)
        - n / (n - 1) * xhat * (dhpreact * xhat).sum(0, keepdim=True)
    )
)
