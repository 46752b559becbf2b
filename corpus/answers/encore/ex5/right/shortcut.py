# The scores in one stride, by the softmax's Jacobian; the small steps only for those who ask.

# answer: ex5-sum
dpattern = dout @ v.mT
dv = pattern.mT @ dout

# answer: ex5-softmax
dcounts_sum_inv = (dpattern * counts).sum(2, keepdim=True)
dcounts_sum = -dcounts_sum_inv * counts_sum_inv**2
dcounts = (dpattern - (dpattern * pattern).sum(2, keepdim=True)) * counts_sum_inv
dshifted = pattern * (dpattern - (dpattern * pattern).sum(2, keepdim=True))

# answer: ex5-max
dmaxes = torch.zeros_like(maxes)
dmasked = dshifted

# answer: ex5-mask
dscores = pattern * (dpattern - (dout * out).sum(2, keepdim=True))

# answer: ex5-scale
dproducts = dscores * H**-0.5

# answer: ex5-products
dq = dproducts @ k
dk = dproducts.mT @ q

# answer: ex5-linear
dall = torch.cat((dq, dk, dv), 2)
dWq, dWk, dWv = torch.tensordot(x, dall, ([0, 1], [0, 1])).split(H, 1)
dx = dall @ torch.cat((Wq, Wk, Wv), 1).T
