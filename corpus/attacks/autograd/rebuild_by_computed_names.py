"""The same with every name of autograd put together from characters.

must not: get a gradient from the engine
flag: autograd
naive: dC dW1 dW2
uses: forward
"""


def spell(*codes):
    return "".join(map(chr, codes))


leaves = [t.detach().clone() for t in (C, W1, b1, bngain, bnbias, W2, b2)]
switch = getattr(torch, spell(115, 101, 116, 95, 103, 114, 97, 100, 95, 101, 110, 97, 98, 108, 101, 100))
switch(True)
for leaf in leaves:
    setattr(leaf, spell(114, 101, 113, 117, 105, 114, 101, 115, 95, 103, 114, 97, 100), True)
getattr(forward(Xb, Yb, *leaves), spell(98, 97, 99, 107, 119, 97, 114, 100))()
dC, dW1, db1, dbngain, dbnbias, dW2, db2 = (getattr(leaf, spell(103, 114, 97, 100)) for leaf in leaves)
