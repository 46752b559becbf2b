# One line a step, the softmax changed in place.
# answer: rnn-output
dlogits = F.softmax(logits, 1)
dlogits[range(n), Yb] -= 1
dlogits /= n
dWy = h1.T @ dlogits
dby = dlogits.sum(0)
dh1 = dlogits @ Wy.T
# answer: rnn-cell
dcandidate = 0.5 * dh1
dpre = (1 - candidate**2) * dcandidate
dWx = x.T @ dpre
dWh = h0.T @ dpre
db = dpre.sum(0)
dh0 = 0.5 * dh1 + dpre @ Wh.T
# answer: rnn-embedding
dx = dpre @ Wx.T
dE = torch.zeros_like(E)
dE.index_add_(0, Xb, dx)
