# All positions one below the other; cubes only where positions look at each other.

# answer: ex6-perceptron
arriving = dout.reshape(-1, C)
dactive = (arriving @ W2.t()).view_as(active)
dW2 = active.view(-1, W2.shape[0]).t() @ arriving
db2 = arriving.sum(0)
normal = torch.distributions.Normal(0.0, 1.0)
dhidden = dactive * (normal.cdf(hidden) + hidden * normal.log_prob(hidden).exp())
dW1 = normed2.view(-1, C).t() @ dhidden.view(-1, W1.shape[1])
db1 = dhidden.view(-1, W1.shape[1]).sum(0)
dnormed2 = torch.nn.functional.linear(dhidden, W1)
dgain2 = dnormed2.mul(xhat2).view(-1, C).sum(0)
dbias2 = dnormed2.view(-1, C).sum(0)
dxhat2 = dnormed2 * gain2
dmid = (C * dxhat2 - dxhat2.sum(2, True) - xhat2 * (dxhat2 * xhat2).sum(2, True)) * inv2 / C + dout
dWo = O.reshape(-1, H).t() @ dmid.reshape(-1, C)
dO = (dmid.reshape(-1, C) @ Wo.t()).view(B, T, H)
dV = torch.bmm(P.transpose(1, 2), dO)
dP = torch.bmm(dO, V.transpose(1, 2))
dS = P * dP - P * (P * dP).sum(2, True)
dQ = torch.bmm(dS, K).div(H**0.5)
dK = torch.bmm(dS.transpose(1, 2), Q).div(H**0.5)
dWq = normed1.reshape(-1, C).t() @ dQ.reshape(-1, H)
dWk = normed1.reshape(-1, C).t() @ dK.reshape(-1, H)
dWv = normed1.reshape(-1, C).t() @ dV.reshape(-1, H)
dnormed1 = torch.cat((dQ, dK, dV), 2) @ torch.cat((Wq, Wk, Wv), 1).t()
dgain1 = dnormed1.mul(xhat1).view(-1, C).sum(0)
dbias1 = dnormed1.view(-1, C).sum(0)
dxhat1 = dnormed1 * gain1
dx = (C * dxhat1 - dxhat1.sum(2, True) - xhat1 * (dxhat1 * xhat1).sum(2, True)) * inv1 / C + dmid
