# One function for everything, called in the last cell.


# answer: ex3-scale
def batchnorm_backward(upstream):
    inv = (var + 1e-5) ** -0.5
    at_xhat = upstream * bngain
    at_var = (at_xhat * (hprebn - mu)).sum(0, keepdim=True) * -0.5 * inv**3
    at_mu = -(at_xhat * inv).sum(0, keepdim=True)
    at_x = at_xhat * inv + at_var * 2 / (n - 1) * (hprebn - mu) + at_mu / n
    gain, bias = (upstream * xhat).sum(0, keepdim=True), upstream.sum(0, keepdim=True)
    return gain, bias, at_xhat, at_var, at_mu, at_x


# answer: ex3-batchnorm
dbngain, dbnbias, dxhat, dvar, dmu, dhprebn = batchnorm_backward(dhpreact)
