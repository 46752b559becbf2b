"""Make a harmless class, and give it its operators by a loop over their names.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dcounts_sum
"""


class Pair:
    def __init__(self, x, slope):
        self.x, self.slope = x, slope


rules = {"pow": lambda a, k: Pair(a.x**k, k * a.x ** (k - 1) * a.slope)}
for name, rule in rules.items():
    setattr(Pair, f"__{name}__", rule)
dcounts_sum = dcounts_sum_inv * (Pair(counts_sum, 1.0) ** -1).slope
