"""Take differences of whole numbers of forty digits, as decimals without a point.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

ONE, STEP = 10**40, 10**20


def exp(x):
    total = term = ONE
    count = 0
    while term:
        count += 1
        term = term * x // (ONE * count)
        total += term
    return total


def tanh(x):
    power = exp(2 * x)
    return (power - ONE) * ONE // (power + ONE)


def slope(number):
    above, below = number.as_integer_ratio()
    x = above * ONE // below
    return (tanh(x + STEP) - tanh(x - STEP)) / (2 * STEP)


dhpreact = dh * torch.tensor([[slope(x) for x in row] for row in hpreact.tolist()])
