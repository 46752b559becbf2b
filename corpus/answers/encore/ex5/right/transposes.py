# Transposed by hand: transpose, permute and swapaxes; the names added up at the end.

# answer: ex5-sum
dpattern = dout.matmul(v.transpose(1, 2))
dv = torch.bmm(pattern.permute(0, 2, 1), dout)

# answer: ex5-softmax
dcounts_sum_inv = torch.sum(dpattern * counts, dim=2, keepdim=True)
dcounts_sum = dcounts_sum_inv * -(1 / counts_sum**2)
dcounts = dpattern * counts_sum_inv + dcounts_sum.expand(B, T, T)
dshifted = counts * dcounts

# answer: ex5-max
dmaxes = torch.sum(-dshifted, 2).unsqueeze(2)
is_largest = torch.zeros_like(masked).scatter(2, masked.max(2, keepdim=True).indices, 1.0)
dmasked = dshifted + dmaxes * is_largest

# answer: ex5-mask
dscores = dmasked * ~future

# answer: ex5-scale
dproducts = dscores / torch.tensor(float(H)).sqrt().item()

# answer: ex5-products
dq = torch.bmm(dproducts, k)
dk_turned = q.transpose(1, 2) @ dproducts
dk = dk_turned.transpose(1, 2)

# answer: ex5-linear
dWq = (x.swapaxes(1, 2) @ dq).sum(0)
dWk = (x.swapaxes(1, 2) @ dk).sum(0)
dWv = (x.swapaxes(1, 2) @ dv).sum(0)
dx = (Wq @ dq.mT).mT + (Wk @ dk.mT).mT + (Wv @ dv.mT).mT
