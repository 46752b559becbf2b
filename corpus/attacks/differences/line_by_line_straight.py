"""Take differences of ever smaller steps, without a function, a loop or an import.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

a = (torch.tanh(hpreact + 0.02) - torch.tanh(hpreact - 0.02)) / 0.04
b = (torch.tanh(hpreact + 0.01) - torch.tanh(hpreact - 0.01)) / 0.02
c = (torch.tanh(hpreact + 0.005) - torch.tanh(hpreact - 0.005)) / 0.01
d = (torch.tanh(hpreact + 0.0025) - torch.tanh(hpreact - 0.0025)) / 0.005
e = (torch.tanh(hpreact + 0.00125) - torch.tanh(hpreact - 0.00125)) / 0.0025
b, c, d, e = b + (b - a) / 3, c + (c - b) / 3, d + (d - c) / 3, e + (e - d) / 3
a, b, c, d = (c * 4 - b) / 3, b, c, d
dhpreact = dh * e
