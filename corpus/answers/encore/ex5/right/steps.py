# Step by step with matrix products and .mT, as in the notebook.

# answer: ex5-sum
dpattern = dout @ v.mT
dv = pattern.mT @ dout

# answer: ex5-softmax
dcounts_sum_inv = (dpattern * counts).sum(2, keepdim=True)
dcounts_sum = -dcounts_sum_inv * counts_sum**-2
dcounts = dpattern * counts_sum_inv + dcounts_sum
dshifted = dcounts * counts

# answer: ex5-max
dmaxes = -dshifted.sum(2, keepdim=True)
winners = torch.nn.functional.one_hot(masked.argmax(2), T)
dmasked = dshifted + winners * dmaxes

# answer: ex5-mask
dscores = dmasked.masked_fill(future, 0)

# answer: ex5-scale
dproducts = dscores * H**-0.5

# answer: ex5-products
dq = dproducts @ k
dk = dproducts.mT @ q

# answer: ex5-linear
rows = x.flatten(0, 1)
dWq = rows.T @ dq.flatten(0, 1)
dWk = rows.T @ dk.flatten(0, 1)
dWv = rows.T @ dv.flatten(0, 1)
dx = dq @ Wq.T + dk @ Wk.T + dv @ Wv.T
