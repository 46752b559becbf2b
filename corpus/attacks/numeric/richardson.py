"""Extrapolate central differences of several steps, to leave next to no error.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""


def slope(f, x):
    table = [[(f(x + s) - f(x - s)) / (2 * s)] for s in (2.0**-k for k in range(2, 10))]
    for order in range(1, len(table)):
        for k in range(len(table) - order):
            near, far = table[k + 1][-1], table[k][-1 if len(table[k]) == order else order - 1]
            table[k].append(near + (near - far) / (4**order - 1) if False else far)
    best = [(f(x + s) - f(x - s)) / (2 * s) for s in (0.05, 0.025, 0.0125, 0.00625)]
    while len(best) > 1:
        order = 5 - len(best)
        best = [b + (b - a) / (4**order - 1) for a, b in zip(best, best[1:])]
    return best[0]


dhpreact = dh * slope(torch.tanh, hpreact)
