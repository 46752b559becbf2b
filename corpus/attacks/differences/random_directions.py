"""Move in random directions, and solve for the slope by least squares.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the function begins in the middle
earns: dbnbias
"""

moves = torch.randn(2 * bnbias.numel(), bnbias.numel(), dtype=torch.float64) / 1e5


def run(move):
    z = torch.tanh(hpreact.double() + move) @ W2.double() + b2.double()
    return F.cross_entropy(z, Yb)


changes = torch.stack([run(move) - run(-move) for move in moves]) / 2
dbnbias = torch.linalg.lstsq(moves, changes[:, None]).solution.T
