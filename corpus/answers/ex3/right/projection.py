# The last gradient as a matrix for each column: identity minus mean minus x-hat.

# answer: ex3-scale
dbngain = (dhpreact * xhat).sum(dim=0, keepdim=True)
dbnbias = dhpreact.sum(dim=0, keepdim=True)

# answer: ex3-xhat
dxhat = bngain * dhpreact

# answer: ex3-variance
dvar = torch.sum(-0.5 * dxhat * (hprebn - mu) * torch.pow(var + 1e-5, -1.5), dim=0, keepdim=True)

# answer: ex3-mean
dmu = torch.sum(-dxhat * torch.pow(var + 1e-5, -0.5), dim=0, keepdim=True)

# answer: ex3-batchnorm
eye = torch.eye(n, dtype=hprebn.dtype)
columns = []
for unit in range(hprebn.shape[1]):
    x = xhat[:, unit]
    jacobian = eye - 1 / n - torch.outer(x, x) / (n - 1)
    columns.append(jacobian @ dxhat[:, unit] * (var[0, unit] + 1e-5) ** -0.5)
dhprebn = torch.stack(columns, 1)
