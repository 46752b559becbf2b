# Each way back has a name of its own, and the ways are added where they meet.

# answer: ex6-perceptron
# what is skipped, and what the perceptron did
skipped2, dthought = dout.clone(), dout.clone()
dactive = dthought @ W2.mT
dW2 = (active.mT @ dthought).sum(0)
db2 = dthought.sum(1).sum(0)
Phi = 0.5 * torch.erfc(-hidden / 2**0.5)
phi = torch.exp(-hidden.square() / 2) / (2 * torch.pi) ** 0.5
dhidden = dactive * Phi + dactive * hidden * phi
dW1 = (normed2.mT @ dhidden).sum(0)
db1 = dhidden.sum(1).sum(0)
dnormed2 = dhidden @ W1.mT
dgain2 = (dnormed2 * xhat2).sum(1).sum(0)
dbias2 = dnormed2.sum(1).sum(0)
dxhat2 = dnormed2 * gain2
straight2 = dxhat2 * inv2
by_mean2 = -straight2.mean(2, keepdim=True)
by_variance2 = -xhat2 * (straight2 * xhat2).mean(2, keepdim=True)
dmid = skipped2 + straight2 + by_mean2 + by_variance2
# and the same for attention
dheard = dmid.clone()
dWo = (O.mT @ dheard).sum(0)
dO = dheard @ Wo.mT
dV = P.mT @ dO
dP = dO @ V.mT
D = (dO * O).sum(2, keepdim=True)
dS = P * (dP - D)
dQ = (dS / H**0.5) @ K
dK = (dS / H**0.5).mT @ Q
dWq = (normed1.mT @ dQ).sum(0)
dWk = (normed1.mT @ dK).sum(0)
dWv = (normed1.mT @ dV).sum(0)
dnormed1 = (dQ @ Wq.mT) + (dK @ Wk.mT) + (dV @ Wv.mT)
dgain1 = (dnormed1 * xhat1).sum(1).sum(0)
dbias1 = dnormed1.sum(1).sum(0)
dxhat1 = dnormed1 * gain1
straight1 = dxhat1 * inv1
by_mean1 = -straight1.mean(2, keepdim=True)
by_variance1 = -xhat1 * (straight1 * xhat1).mean(2, keepdim=True)
dx = dmid + straight1 + by_mean1 + by_variance1
