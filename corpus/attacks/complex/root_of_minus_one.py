"""Take the complex step with the root of a negative number, and read its parts as real ones.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact dnorm_logits
"""

i = (-1.0) ** 0.5


def slope(f, x):
    return torch.view_as_real(f(x + 1e-30 * i))[..., 1] / 1e-30


dhpreact = dh * slope(torch.tanh, hpreact)
dnorm_logits = dcounts * slope(torch.exp, norm_logits)
