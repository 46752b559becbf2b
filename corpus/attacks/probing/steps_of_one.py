"""Take steps of one: of a linear function differences are exact.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dbnraw
"""


def step(x):
    return (bngain * x + bnbias)[0]


def moved(k):
    v = bnraw[:1].clone()
    v[0, k] += 1.0
    return v


here = step(bnraw[:1])
dbnraw = dhpreact * sum(step(moved(k)) - here for k in range(bnraw.shape[1]))
