# The layer normalisation's gradient in one expression, derived on paper.
# answer: layernorm-all
dupdate = dout
dpre = dupdate - dupdate * update.square()
dnormed = torch.einsum("nj,ij->ni", dpre, W)
dW = torch.einsum("ni,nj->ij", normed, dpre)
db = torch.einsum("nj->j", dpre)
dgain = torch.einsum("ni,ni->i", dnormed, xhat)
dbias = torch.einsum("ni->i", dnormed)
dxhat = gain * dnormed
dmean = -(inv * dxhat).sum(dim=1, keepdim=True)
dinv = ((x - mean) * dxhat).sum(dim=1, keepdim=True)
dvar = -dinv / (2 * (var + 1e-5).sqrt() ** 3)
row_mean = dxhat.mean(1, keepdim=True)
projection = (dxhat * xhat).mean(1, keepdim=True)
dx = dout + inv * (dxhat - row_mean - xhat * projection)
