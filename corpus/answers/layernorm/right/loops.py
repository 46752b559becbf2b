# Row after row, with the sums of a row as numbers.
# answer: layernorm-all
dupdate = dout * 1
dpre = torch.zeros_like(pre)
dnormed = torch.zeros_like(normed)
dW, db = torch.zeros_like(W), torch.zeros_like(b)
for i in range(n):
    dpre[i] = dupdate[i] * (1 - update[i] * update[i])
for i in range(n):
    dnormed[i] = W @ dpre[i]
    dW += torch.outer(normed[i], dpre[i])
    db += dpre[i]
dgain, dbias = torch.zeros_like(gain), torch.zeros_like(bias)
for i in range(n):
    dgain += dnormed[i] * xhat[i]
    dbias += dnormed[i]
dxhat = torch.stack([dnormed[i] * gain for i in range(n)])
dinv, dvar, dmean = torch.zeros_like(inv), torch.zeros_like(var), torch.zeros_like(mean)
dx = torch.zeros_like(x)
for i in range(n):
    dinv[i, 0] = torch.dot(dxhat[i], x[i] - mean[i])
for i in range(n):
    dvar[i, 0] = -0.5 * dinv[i, 0] * (var[i, 0] + 1e-5) ** -1.5
for i in range(n):
    dmean[i, 0] = -inv[i, 0] * dxhat[i].sum()
for i in range(n):
    dx[i] = dout[i] + dxhat[i] * inv[i] + dmean[i] / n_embd
    dx[i] += dvar[i] * 2 * (x[i] - mean[i]) / n_embd
