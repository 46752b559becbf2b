"""Push every unit vector through a linear step, and so write down its matrix.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dh
"""


def step(v):
    return v @ W2


columns = []
for k in range(h.shape[1]):
    unit = torch.zeros(h.shape[1])
    unit[k] = 1.0
    columns.append(step(unit))
dh = dlogits @ torch.stack(columns).T
