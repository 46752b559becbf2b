"""Write a small reverse mode by overloading operators, with every rule written by hand.

must not: earn more than the gradients that it finds
flag: none
naive: dlogits dh dW2 db2
earns: dlogits dh dW2 db2
"""


class Value:
    def __init__(self, data, parents=()):
        self.data, self.parents, self.slope = data, parents, torch.zeros_like(data)

    def __matmul__(self, other):
        return Value(
            self.data @ other.data,
            ((self, lambda d: d @ other.data.T), (other, lambda d: self.data.T @ d)),
        )

    def __add__(self, other):
        return Value(self.data + other.data, ((self, lambda d: d), (other, lambda d: d.sum(0))))

    def pull(self, d):
        self.slope = self.slope + d
        for parent, rule in self.parents:
            parent.pull(rule(d))


a, w, b = Value(h.detach()), Value(W2.detach()), Value(b2.detach())
scores = a @ w + b
scores.pull((F.softmax(scores.data, 1) - F.one_hot(Yb, vocab_size)) / n)
dlogits, dh, dW2, db2 = scores.slope, a.slope, w.slope, b.slope
