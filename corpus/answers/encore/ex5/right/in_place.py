# Built in place: clone, add_, mul_, masked_fill_.

# answer: ex5-sum
dpattern = torch.empty_like(pattern)
torch.bmm(dout, v.mT, out=dpattern)
dv = torch.zeros_like(v)
dv += pattern.mT @ dout

# answer: ex5-softmax
dcounts_sum_inv = dpattern.clone().mul_(counts).sum(2, keepdim=True)
dcounts_sum = dcounts_sum_inv.clone()
dcounts_sum *= -1
dcounts_sum /= counts_sum
dcounts_sum /= counts_sum
dcounts = dpattern.clone()
dcounts *= counts_sum_inv
dcounts += dcounts_sum
dshifted = dcounts.clone().mul_(counts)

# answer: ex5-max
dmaxes = dshifted.sum(2, keepdim=True).neg_()
dmasked = dshifted.clone()
dmasked.scatter_add_(2, masked.argmax(2, keepdim=True), dmaxes)

# answer: ex5-mask
dscores = dmasked.clone()
dscores[:, future] = 0

# answer: ex5-scale
dproducts = dscores.clone()
dproducts /= H**0.5

# answer: ex5-products
dq = torch.zeros_like(q)
dq += dproducts @ k
dk = torch.zeros_like(k)
dk += dproducts.mT @ q

# answer: ex5-linear
dWq = torch.zeros_like(Wq)
dWq += x.flatten(0, 1).T @ dq.flatten(0, 1)
dWk = torch.zeros_like(Wk)
dWk += x.flatten(0, 1).T @ dk.flatten(0, 1)
dWv = torch.zeros_like(Wv)
dWv += x.flatten(0, 1).T @ dv.flatten(0, 1)
dx = dq @ Wq.T
dx += dk @ Wk.T
dx += dv @ Wv.T
