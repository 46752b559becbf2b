# As FlashAttention: the row-wise dot product of dO and O comes first.

# answer: ex5f-fused
D = (dO * O).sum(2, keepdim=True)
dV = P.mT @ dO
dP = dO @ V.mT
dS = P * (dP - D)
dQ = dS @ K * H**-0.5
dK = dS.mT @ Q * H**-0.5
