"""Integrate around each number on a circle in the plane, as Cauchy's formula has it.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

points = [(-1.0) ** (k / 16) for k in range(0, 32)]
total = sum(torch.tanh(hpreact + 0.25 * z) / z for z in points)
dhpreact = dh * torch.view_as_real(total)[..., 0] / (0.25 * 32)
