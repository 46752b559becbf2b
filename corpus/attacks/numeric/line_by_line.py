"""The same for single lines, from the upstream gradient at hand.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact dcounts_sum
"""


def pull(f, x, up, step=1e-5):
    found = torch.zeros_like(x)
    for i in range(x.numel()):
        e = torch.zeros_like(x)
        e.view(-1)[i] = step
        found.view(-1)[i] = (up * (f(x + e) - f(x - e))).sum() / (2 * step)
    return found


dhpreact = pull(torch.tanh, hpreact, dh)
dcounts_sum = pull(lambda x: x**-1, counts_sum, dcounts_sum_inv)
