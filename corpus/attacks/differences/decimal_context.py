"""Take the differences by a context's methods, with no operator between decimal numbers.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dnorm_logits
"""

import decimal

c = decimal.Context(prec=40)
step = c.create_decimal("1e-15")


def slope(x):
    x = c.create_decimal_from_float(x)
    return float(c.divide(c.subtract(c.exp(c.add(x, step)), c.exp(x)), step))


slopes = torch.tensor([[slope(x) for x in row] for row in norm_logits.tolist()])
dnorm_logits = dcounts * slopes
