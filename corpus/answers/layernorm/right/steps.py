# One line a step, dx added up from its four branches in place.
# answer: layernorm-update
dupdate = dout.clone()
dpre = (1 - update**2) * dupdate
dW = normed.T @ dpre
db = dpre.sum(0)
dnormed = dpre @ W.T
# answer: layernorm-norm
dgain = (dnormed * xhat).sum(0)
dbias = dnormed.sum(0)
dxhat = dnormed * gain
dinv = (dxhat * (x - mean)).sum(1, keepdim=True)
dvar = -0.5 * (var + 1e-5) ** -1.5 * dinv
dmean = -(dxhat * inv).sum(1, keepdim=True)
# answer: layernorm-input
dx = dout.clone()
dx += dxhat * inv
dx += dmean / n_embd
dx += dvar * 2 / n_embd * (x - mean)
