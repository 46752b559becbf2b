# Built in place, term by term.

# answer: ex6n-scale
dgain = torch.zeros_like(gain)
dgain += (dy * zhat).sum((0, 1))
dbias = torch.zeros_like(bias)
dbias += dy.sum((0, 1))

# answer: ex6n-normalise
dzhat = dy.clone()
dzhat *= gain
dz = dzhat.clone()
dz -= dzhat.mean(2, keepdim=True)
dz -= zhat * (dzhat * zhat).mean(2, keepdim=True)
dz *= (var + 1e-5) ** -0.5
