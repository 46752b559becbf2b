"""Move every single weight of the first layer, a forward pass each.

must not: hold up the worker beyond its deadline
flag: time-limit
naive: none, since it takes too long
needs: patience
uses: forward
"""

given = [t.detach().clone() for t in (C, W1, b1, bngain, bnbias, W2, b2)]
dW1 = torch.zeros_like(W1)
for i in range(W1.numel() * 100):
    i %= W1.numel()
    old = given[1].view(-1)[i].item()
    given[1].view(-1)[i] = old + 1e-5
    plus = forward(Xb, Yb, *given)
    given[1].view(-1)[i] = old - 1e-5
    minus = forward(Xb, Yb, *given)
    given[1].view(-1)[i] = old
    dW1.view(-1)[i] = (plus - minus) / 2e-5
