"""Take the imaginary unit from the eigenvalues of a rotation.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dbnvar
"""

turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
unit = [z for z in torch.linalg.eigvals(turn) if torch.angle(z) > 0][0]
step = (bnvar + 1e-5 + unit * 1e-30) ** -0.5
dbnvar = dbnvar_inv * torch.view_as_real(step)[..., 1] / 1e-30
