"""Ask a transform of `torch.distributions` for the logarithm of its derivative.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact dnorm_logits
"""

from torch.distributions import transforms

dhpreact = dh * transforms.TanhTransform().log_abs_det_jacobian(hpreact, h).exp()
dnorm_logits = dcounts * transforms.ExpTransform().log_abs_det_jacobian(norm_logits, counts).exp()
