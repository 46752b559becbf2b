# Every product as an einsum, whose letters say what is added up.

# answer: ex5-sum
dpattern = torch.einsum("bth,bsh->bts", dout, v)
dv = torch.einsum("bts,bth->bsh", pattern, dout)

# answer: ex5-softmax
dcounts_sum_inv = torch.einsum("bts,bts->bt", dpattern, counts)[:, :, None]
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = dcounts_sum + counts_sum_inv * dpattern
dshifted = shifted.exp() * dcounts

# answer: ex5-max
dmaxes = -dshifted.sum(dim=-1, keepdim=True)
dmasked = dshifted.scatter_add(2, masked.argmax(2, keepdim=True), dmaxes)

# answer: ex5-mask
dscores = torch.where(future, 0.0, dmasked)

# answer: ex5-scale
dproducts = dscores / H**0.5

# answer: ex5-products
dq = torch.einsum("bts,bsh->bth", dproducts, k)
dk = torch.einsum("bts,bth->bsh", dproducts, q)

# answer: ex5-linear
dWq = torch.einsum("btc,bth->ch", x, dq)
dWk = torch.einsum("btc,bth->ch", x, dk)
dWv = torch.einsum("btc,bth->ch", x, dv)
dx = sum(torch.einsum("bth,ch->btc", d, W) for d, W in ((dq, Wq), (dk, Wk), (dv, Wv)))
