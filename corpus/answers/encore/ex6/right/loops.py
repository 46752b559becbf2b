# Name by name; weights, biases and gains collect.

# answer: ex6-perceptron
dactive, dW2, db2 = torch.zeros_like(active), torch.zeros_like(W2), torch.zeros_like(b2)
for b in range(B):
    dactive[b] = dout[b] @ W2.T
    dW2 += active[b].T @ dout[b]
    db2 += dout[b].sum(0)
dhidden = torch.zeros_like(hidden)
for b in range(B):
    cdf = 0.5 * (1 + torch.erf(hidden[b] / 2**0.5))
    density = torch.exp(-(hidden[b] ** 2) / 2) / (2 * torch.pi) ** 0.5
    dhidden[b] = dactive[b] * (cdf + hidden[b] * density)
dW1, db1, dnormed2 = torch.zeros_like(W1), torch.zeros_like(b1), torch.zeros_like(normed2)
for b in range(B):
    dW1 += normed2[b].T @ dhidden[b]
    db1 += dhidden[b].sum(0)
    dnormed2[b] = dhidden[b] @ W1.T
dgain2, dbias2 = torch.zeros_like(gain2), torch.zeros_like(bias2)
dxhat2, dmid = torch.zeros_like(xhat2), torch.zeros_like(mid)
for b in range(B):
    dgain2 += (dnormed2[b] * xhat2[b]).sum(0)
    dbias2 += dnormed2[b].sum(0)
    dxhat2[b] = dnormed2[b] * gain2
for b in range(B):
    kept = dxhat2[b] - dxhat2[b].mean(1, keepdim=True)
    kept = kept - xhat2[b] * (dxhat2[b] * xhat2[b]).mean(1, keepdim=True)
    dmid[b] = dout[b] + inv2[b] * kept
dWo, dO = torch.zeros_like(Wo), torch.zeros_like(O)
for b in range(B):
    dWo += O[b].T @ dmid[b]
    dO[b] = dmid[b] @ Wo.T
dV, dP, dS = torch.zeros_like(V), torch.zeros_like(P), torch.zeros_like(S)
for b in range(B):
    dV[b] = P[b].T @ dO[b]
    dP[b] = dO[b] @ V[b].T
for b in range(B):
    dS[b] = P[b] * (dP[b] - (dP[b] * P[b]).sum(1, keepdim=True))
dQ, dK = torch.zeros_like(Q), torch.zeros_like(K)
for b in range(B):
    dQ[b] = dS[b] @ K[b] * H**-0.5
    dK[b] = dS[b].T @ Q[b] * H**-0.5
dWq, dWk, dWv = torch.zeros_like(Wq), torch.zeros_like(Wk), torch.zeros_like(Wv)
dnormed1 = torch.zeros_like(normed1)
for b in range(B):
    dWq += normed1[b].T @ dQ[b]
    dWk += normed1[b].T @ dK[b]
    dWv += normed1[b].T @ dV[b]
    dnormed1[b] = dQ[b] @ Wq.T + dK[b] @ Wk.T + dV[b] @ Wv.T
dgain1, dbias1 = torch.zeros_like(gain1), torch.zeros_like(bias1)
dxhat1, dx = torch.zeros_like(xhat1), torch.zeros_like(x)
for b in range(B):
    dgain1 += (dnormed1[b] * xhat1[b]).sum(0)
    dbias1 += dnormed1[b].sum(0)
    dxhat1[b] = dnormed1[b] * gain1
for b in range(B):
    kept = dxhat1[b] - dxhat1[b].mean(1, keepdim=True)
    kept = kept - xhat1[b] * (dxhat1[b] * xhat1[b]).mean(1, keepdim=True)
    dx[b] = dmid[b] + inv1[b] * kept
