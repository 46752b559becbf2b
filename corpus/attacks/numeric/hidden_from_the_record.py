"""Takes differences in a function that is reached by no name, once nobody records any more.

must not: earn more than the gradients that it finds
flag: none
naive: dlogits
earns: dlogits
"""

steps = []
many = {f"x{i}": torch.zeros(1) for i in range(50)}
for i in range(3000):
    globals()[f"x{i}"] = i


@steps.append
def quotient(f, z, e):
    return (f(z + e) - f(z - e)) / (2 * e)


rows = torch.zeros_like(logits)
for k in range(logits.numel()):
    e = torch.zeros_like(logits)
    e.view(-1)[k] = 1e-6
    quotients = steps[0](lambda z: F.cross_entropy(z, Yb), logits.double(), e.double())
    rows.view(-1)[k] = quotients.view(-1)[k]
dlogits = rows
