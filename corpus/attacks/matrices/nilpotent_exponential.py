"""Put a nilpotent part into a matrix: its exponential has the derivative in a corner.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dnorm_logits dhpreact
"""

corner = torch.tensor([[0.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
unit = torch.eye(2, dtype=torch.float64)
both = torch.matrix_exp(norm_logits[..., None, None] * unit + corner)
dnorm_logits = dcounts * both[..., 0, 1]
twice = torch.matrix_exp(2 * (hpreact[..., None, None] * unit + corner))
dhpreact = dh * torch.linalg.solve(twice + unit, twice - unit)[..., 0, 1]
