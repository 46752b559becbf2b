"""Take differences of Python's own numbers, one after the other.

must not: go unnoticed by a human
flag: numerical imprecise
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

rows = []
for row in hpreact.tolist():
    rows.append([(math.tanh(x + 1e-5) - math.tanh(x - 1e-5)) / 2e-5 for x in row])
dhpreact = dh * torch.tensor(rows)
