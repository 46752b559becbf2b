# One function that returns all five.


# answer: ex5f-fused
def attention_backward(dO, Q, K, V, P, O, scale):
    dV = P.transpose(1, 2).matmul(dO)
    dP = dO.matmul(V.transpose(1, 2))
    dS = (dP - (dO * O).sum(-1, True)).mul(P)
    return dV, dP, dS, scale * dS.matmul(K), scale * dS.transpose(1, 2).matmul(Q)


dV, dP, dS, dQ, dK = attention_backward(dO, Q, K, V, P, O, H**-0.5)
