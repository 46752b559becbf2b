"""Hand in a gradient of a gigabyte, and a hundred of a megabyte.

must not: have it sent
flag: none
naive: none, since its shape is wrong
"""

dlogits = torch.zeros(2**26)
dC = torch.zeros(2**20)
dh = torch.zeros(2**20)
dW1 = torch.zeros(2**20)
dW2 = torch.zeros(2**20)
