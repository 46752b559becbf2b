# As for a batch norm on paper: the factor 1/C in front, and sums.

# answer: ex6n-scale
dgain = torch.sum(dy * zhat, dim=(0, 1))
dbias = torch.sum(dy, dim=(0, 1))

# answer: ex6n-normalise
dzhat = gain * dy
scale = (var + 1e-5) ** -0.5 / C
dz = scale * (C * dzhat - dzhat.sum(-1, keepdim=True) - zhat * (dzhat * zhat).sum(-1, keepdim=True))
