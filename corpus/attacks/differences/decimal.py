"""Take differences with fifty digits, of which sixteen remain.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dnorm_logits
"""

from decimal import Decimal, getcontext

getcontext().prec = 50
step = Decimal("1e-20")
slopes = [
    [float(((x + step).exp() - (x - step).exp()) / (2 * step)) for x in map(Decimal, row)]
    for row in norm_logits.tolist()
]
dnorm_logits = dcounts * torch.tensor(slopes)
