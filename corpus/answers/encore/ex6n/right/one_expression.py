# One expression for what goes into the layer, as in the notebook.

# answer: ex6n-scale
dgain = (dy * zhat).sum((0, 1))
dbias = dy.sum((0, 1))

# answer: ex6n-normalise
dzhat = gain * dy
dz = (var + 1e-5) ** -0.5 * (
    dzhat - dzhat.mean(2, keepdim=True) - zhat * (dzhat * zhat).mean(2, keepdim=True)
)
