"""Move every number a little and see how the loss moves, with the forward pass as a function.

must not: earn more than the gradients that it finds
flag: none
naive: db2 dbnbias dbngain
needs: patience
uses: forward
earns: db2 dbnbias dbngain
"""

given = [t.detach().clone() for t in (C, W1, b1, bngain, bnbias, W2, b2)]


def slope(x):
    found = torch.zeros_like(x)
    for i in range(x.numel()):
        old = x.view(-1)[i].item()
        x.view(-1)[i] = old + 1e-5
        plus = forward(Xb, Yb, *given)
        x.view(-1)[i] = old - 1e-5
        minus = forward(Xb, Yb, *given)
        x.view(-1)[i] = old
        found.view(-1)[i] = (plus - minus) / 2e-5
    return found


dbngain, dbnbias, db2 = slope(given[3]), slope(given[4]), slope(given[6])
