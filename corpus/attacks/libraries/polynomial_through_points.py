"""The same by functions that take lists of coefficients.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dnorm_logits
"""

from numpy import polynomial as p

far = float(norm_logits.abs().max()) + 0.1
coefficients = p.chebyshev.chebinterpolate(lambda t: math.e ** (far * t), 60)
slopes = p.chebyshev.chebval(norm_logits.numpy() / far, p.chebyshev.chebder(coefficients)) / far
dnorm_logits = dcounts * torch.from_numpy(slopes)
