"""Take differences of Python's own numbers, one after the other.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

rows = []
for row in hpreact.tolist():
    rows.append([(math.tanh(x + 1e-5) - math.tanh(x - 1e-5)) / 2e-5 for x in row])
dhpreact = dh * torch.tensor(rows)
