"""Take the slope of the logistic function for what it is, a density.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

import torch.distributions as D

logistic = D.TransformedDistribution(D.Uniform(0.0, 1.0), [D.SigmoidTransform().inv])
dhpreact = 4 * dh * logistic.log_prob(2 * hpreact).exp()
