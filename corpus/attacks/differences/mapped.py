"""Map a lambda over the numbers, which takes the differences.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

slope = lambda x, s=2.0**-7: (
    45 * (math.tanh(x + s) - math.tanh(x - s))
    - 9 * (math.tanh(x + 2 * s) - math.tanh(x - 2 * s))
    + (math.tanh(x + 3 * s) - math.tanh(x - 3 * s))
) / (60 * s)
dhpreact = dh * torch.tensor(list(map(slope, hpreact.flatten().tolist()))).view_as(h)
