# Sequence after sequence, with the softmax' Jacobian written out for each row.
# answer: attention-all
dweights = torch.stack([dout[i] @ v[i].T for i in range(n)])
dv = torch.stack([weights[i].T @ dout[i] for i in range(n)])
dmasked = torch.zeros_like(masked)
for i in range(n):
    for t in range(block_size):
        p = weights[i, t]
        dmasked[i, t] = (torch.diag(p) - torch.outer(p, p)) @ dweights[i, t]
dscores = torch.zeros_like(scores)
for t in range(block_size):
    dscores[:, t, : t + 1] = dmasked[:, t, : t + 1]
dq, dk = torch.zeros_like(q), torch.zeros_like(k)
for i in range(n):
    dq[i] = dscores[i] @ k[i] / head_size**0.5
for i in range(n):
    dk[i] = dscores[i].T @ q[i] / head_size**0.5
dWq, dWk, dWv = torch.zeros_like(Wq), torch.zeros_like(Wk), torch.zeros_like(Wv)
for i in range(n):
    dWq += x[i].T @ dq[i]
for i in range(n):
    dWk += x[i].T @ dk[i]
for i in range(n):
    dWv += x[i].T @ dv[i]
dx = dq @ Wq.T + dk @ Wk.T + dv @ Wv.T
