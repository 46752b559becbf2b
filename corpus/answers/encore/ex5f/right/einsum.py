# Einsums, the scale taken into the gradient of the products.

# answer: ex5f-fused
dV = torch.einsum("bts,bth->bsh", P, dO)
dP = torch.einsum("bth,bsh->bts", dO, V)
average = torch.einsum("bts,bts->bt", P, dP)
dS = P * (dP - average.unsqueeze(2))
dproducts = dS / H**0.5
dQ = torch.einsum("bts,bsh->bth", dproducts, K)
dK = torch.einsum("bts,bth->bsh", dproducts, Q)
