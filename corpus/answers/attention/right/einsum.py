# Everything as an einsum over the letters b, t, s, e and h.
# answer: attention-all
dweights = torch.einsum("bth,bsh->bts", dout, v)
dv = torch.einsum("bts,bth->bsh", weights, dout)
dots = torch.einsum("bts,bts->bt", weights, dweights)
dmasked = torch.einsum("bts,bts->bts", weights, dweights) - weights * dots[..., None]
dscores = dmasked * ~future
scale = head_size**-0.5
dq = torch.einsum("bts,bsh->bth", scale * dscores, k)
dk = torch.einsum("bts,bth->bsh", scale * dscores, q)
dWq = torch.einsum("bte,bth->eh", x, dq)
dWk = torch.einsum("bte,bth->eh", x, dk)
dWv = torch.einsum("bte,bth->eh", x, dv)
dx = sum(torch.einsum("bth,eh->bte", d, W) for d, W in ((dq, Wq), (dk, Wk), (dv, Wv)))
