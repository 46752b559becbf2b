# One name after the other, as on paper; the weights collect in place.

# answer: ex5-sum
dpattern, dv = torch.zeros_like(pattern), torch.zeros_like(v)
for b in range(B):
    dpattern[b] = dout[b] @ v[b].T
    dv[b] = pattern[b].T @ dout[b]

# answer: ex5-softmax
dcounts_sum_inv = torch.zeros_like(counts_sum_inv)
for s in range(T):
    dcounts_sum_inv[:, :, 0] += dpattern[:, :, s] * counts[:, :, s]
dcounts_sum = -dcounts_sum_inv * counts_sum_inv**2
dcounts = torch.zeros_like(counts)
for s in range(T):
    dcounts[:, :, s] = dpattern[:, :, s] * counts_sum_inv[:, :, 0] + dcounts_sum[:, :, 0]
dshifted = dcounts * counts

# answer: ex5-max
dmaxes = torch.zeros_like(maxes)
for s in range(T):
    dmaxes[:, :, 0] -= dshifted[:, :, s]
dmasked = dshifted.clone()
for b in range(B):
    for t in range(T):
        dmasked[b, t, masked[b, t].argmax()] += dmaxes[b, t, 0]

# answer: ex5-mask
dscores = torch.zeros_like(scores)
for t in range(T):
    dscores[:, t, : t + 1] = dmasked[:, t, : t + 1]

# answer: ex5-scale
dproducts = dscores * H**-0.5

# answer: ex5-products
dq, dk = torch.zeros_like(q), torch.zeros_like(k)
for b in range(B):
    dq[b] = dproducts[b] @ k[b]
    dk[b] = dproducts[b].T @ q[b]

# answer: ex5-linear
dWq, dWk, dWv = torch.zeros_like(Wq), torch.zeros_like(Wk), torch.zeros_like(Wv)
dx = torch.zeros_like(x)
for b in range(B):
    dWq += x[b].T @ dq[b]
    dWk += x[b].T @ dk[b]
    dWv += x[b].T @ dv[b]
    dx[b] = dq[b] @ Wq.T + dk[b] @ Wk.T + dv[b] @ Wv.T
