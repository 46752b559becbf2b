"""The same by `types.new_class`, with the operators in a namespace that is filled in.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

import types


def fill(space):
    def init(self, x, slope):
        self.x, self.slope = x, slope

    def times(a, b):
        return Jet(a.x * b.x, a.x * b.slope + a.slope * b.x)

    def over(a, b):
        return Jet(a.x / b.x, (a.slope * b.x - a.x * b.slope) / b.x**2)

    def plus(a, c):
        return Jet(a.x + c, a.slope)

    space.update(__init__=init, __mul__=times, __truediv__=over, __add__=plus)


Jet = types.new_class("Jet", (), {}, fill)
e = torch.exp(2 * hpreact)
z = Jet(e, 2 * e)
dhpreact = dh * ((z + -1) / (z + 1)).slope
