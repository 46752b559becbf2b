"""Step by a factor rather than a summand, and take the slope of the logarithms.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dcounts_sum
"""

factor = 1 + 2.0**-10
power = torch.log((counts_sum * factor) ** -1 / counts_sum**-1) / math.log(factor)
dcounts_sum = dcounts_sum_inv * power * counts_sum**-2
