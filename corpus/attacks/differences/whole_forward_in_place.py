"""Change each number where it lies, and run the rest of the forward pass again and again.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the function begins in the middle
earns: dbnbias dbngain
"""


def rest(gain, bias):
    z = torch.tanh(gain * bnraw.double() + bias) @ W2.double() + b2.double()
    return F.cross_entropy(z, Yb)


def sweep(t, run, step=2.0**-6):
    found = torch.zeros_like(t)
    for k in range(t.numel()):
        old, values = t[0, k].item(), []
        for offset in (-3, -2, -1, 1, 2, 3):
            t[0, k] = old + offset * step
            values.append(run())
        t[0, k] = old
        weighted = sum(c * v for c, v in zip((-1, 9, -45, 45, -9, 1), values))
        found[0, k] = weighted / (60 * step)
    return found


gain, bias = bngain.clone().double(), bnbias.clone().double()
dbngain = sweep(gain, lambda: rest(gain, bias))
dbnbias = sweep(bias, lambda: rest(gain, bias))
