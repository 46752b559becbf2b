"""Hand in a view of one number that claims to be a terabyte.

must not: be copied
flag: none
naive: none, since its shape is wrong
"""

dlogits = torch.zeros(1).expand(2**20, 2**20)
dprobs = torch.empty(0, 2**40)
dC = torch.zeros(1)[(None,) * 60]
