# One position after the other, as on paper.

# answer: ex6n-scale
dgain, dbias = torch.zeros_like(gain), torch.zeros_like(bias)
for b in range(B):
    for t in range(T):
        dgain += dy[b, t] * zhat[b, t]
        dbias += dy[b, t]

# answer: ex6n-normalise
dzhat, dz = torch.zeros_like(z), torch.zeros_like(z)
for b in range(B):
    for t in range(T):
        dzhat[b, t] = gain * dy[b, t]
for b in range(B):
    for t in range(T):
        row, arriving = zhat[b, t], dzhat[b, t]
        left = arriving - arriving.mean() - row * (row @ arriving) / C
        dz[b, t] = left * (var[b, t] + 1e-5) ** -0.5
