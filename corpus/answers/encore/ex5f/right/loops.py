# Name by name and row by row.

# answer: ex5f-fused
dV, dP, dS = torch.zeros_like(V), torch.zeros_like(P), torch.zeros_like(S)
dQ, dK = torch.zeros_like(Q), torch.zeros_like(K)
for b in range(B):
    dV[b] = P[b].T @ dO[b]
for b in range(B):
    dP[b] = dO[b] @ V[b].T
for b in range(B):
    for t in range(T):
        dS[b, t] = P[b, t] * (dP[b, t] - P[b, t] @ dP[b, t])
for b in range(B):
    dQ[b] = dS[b] @ K[b] / H**0.5
for b in range(B):
    dK[b] = dS[b].T @ Q[b] / H**0.5
