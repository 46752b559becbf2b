"""Take differences of whole lists, which a built-in function is mapped over.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

step, slopes = 2.0**-8, [0.0] * h.nelement()
for k, weight in ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280)):
    above = list(map(math.tanh, [x + k * step for x in hpreact.flatten().tolist()]))
    below = list(map(math.tanh, [x - k * step for x in hpreact.flatten().tolist()]))
    slopes = [s + weight * (a - b) / step for s, a, b in zip(slopes, above, below)]
dhpreact = dh * torch.tensor(slopes).view_as(h)
