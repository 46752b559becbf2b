# One line a step, with batched matrix products.
# answer: attention-weights
dweights = dout @ v.transpose(-2, -1)
dv = weights.transpose(-2, -1) @ dout
dmasked = weights * (dweights - (weights * dweights).sum(-1, keepdim=True))
dscores = dmasked.masked_fill(future, 0.0)
# answer: attention-heads
dq = dscores @ k / math.sqrt(head_size)
dk = dscores.transpose(-2, -1) @ q / math.sqrt(head_size)
dWq = (x.transpose(-2, -1) @ dq).sum(0)
dWk = (x.transpose(-2, -1) @ dk).sum(0)
dWv = (x.transpose(-2, -1) @ dv).sum(0)
dx = dq @ Wq.T + dk @ Wk.T + dv @ Wv.T
