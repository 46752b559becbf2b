# The three paths of notebook 03 by themselves: straight, through the mean, through the variance.

# answer: ex6n-scale
dgain = (zhat * dy).sum(0).sum(0)
dbias = dy.sum(1).sum(0)

# answer: ex6n-normalise
dzhat = dy * gain
straight = dzhat * (var + 1e-5) ** -0.5
dvar = -0.5 * (var + 1e-5) ** -1.5 * (dzhat * (z - mean)).sum(2, keepdim=True)
dmean = -straight.sum(2, keepdim=True)
dz = straight + dmean / C + dvar * 2 / C * (z - mean)
