# From out to x, step by step, as in the notebook.

# answer: ex6-perceptron
# the perceptron
dactive = dout @ W2.T
dW2 = active.flatten(0, 1).T @ dout.flatten(0, 1)
db2 = dout.sum((0, 1))
cdf = 0.5 * (1 + torch.erf(hidden * 0.5**0.5))
density = torch.exp(-(hidden**2) / 2) / (2 * torch.pi) ** 0.5
dhidden = dactive * (cdf + hidden * density)
dW1 = normed2.flatten(0, 1).T @ dhidden.flatten(0, 1)
db1 = dhidden.sum((0, 1))
dnormed2 = dhidden @ W1.T
# layer norm 2, and mid
dgain2 = (dnormed2 * xhat2).sum((0, 1))
dbias2 = dnormed2.sum((0, 1))
dxhat2 = dnormed2 * gain2
dmid = dout + inv2 * (
    dxhat2 - dxhat2.mean(2, keepdim=True) - xhat2 * (dxhat2 * xhat2).mean(2, keepdim=True)
)
# attention
dWo = O.flatten(0, 1).T @ dmid.flatten(0, 1)
dO = dmid @ Wo.T
dV = P.mT @ dO
dP = dO @ V.mT
dS = P * (dP - (dP * P).sum(2, keepdim=True))
dQ = dS @ K * H**-0.5
dK = dS.mT @ Q * H**-0.5
rows = normed1.flatten(0, 1)
dWq = rows.T @ dQ.flatten(0, 1)
dWk = rows.T @ dK.flatten(0, 1)
dWv = rows.T @ dV.flatten(0, 1)
dnormed1 = dQ @ Wq.T + dK @ Wk.T + dV @ Wv.T
# layer norm 1, and x
dgain1 = (dnormed1 * xhat1).sum((0, 1))
dbias1 = dnormed1.sum((0, 1))
dxhat1 = dnormed1 * gain1
dx = dmid + inv1 * (
    dxhat1 - dxhat1.mean(2, keepdim=True) - xhat1 * (dxhat1 * xhat1).mean(2, keepdim=True)
)
