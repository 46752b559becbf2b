# A function for each layer, called twice where the layer is there twice.


# answer: ex6-perceptron
def through_norm(arriving, xhat, inv):
    """Back through a layer norm, to what it was made of."""
    return inv * (
        arriving - arriving.mean(-1, keepdim=True) - xhat * (arriving * xhat).mean(-1, keepdim=True)
    )


def to_weights(entering, arriving):
    """What a linear layer's weights get from all positions."""
    return entering.reshape(-1, entering.shape[-1]).T @ arriving.reshape(-1, arriving.shape[-1])


def slope_of_gelu(w):
    """The distribution function, and the number times the density."""
    bell = torch.exp(-w.square() / 2) / (2 * torch.pi) ** 0.5
    return 0.5 * (1 + torch.erf(w / 2**0.5)) + w * bell


dactive = dout @ W2.T
dW2 = to_weights(active, dout)
db2 = dout.sum(0).sum(0)
dhidden = dactive * slope_of_gelu(hidden)
dW1 = to_weights(normed2, dhidden)
db1 = dhidden.sum(0).sum(0)
dnormed2 = dhidden @ W1.T
dgain2 = (dnormed2 * xhat2).sum(0).sum(0)
dbias2 = dnormed2.sum(0).sum(0)
dxhat2 = gain2 * dnormed2
dmid = dout + through_norm(dxhat2, xhat2, inv2)
dWo = to_weights(O, dmid)
dO = dmid @ Wo.T
dV = P.transpose(1, 2) @ dO
dP = dO @ V.transpose(1, 2)
dS = P * (dP - (dO * O).sum(-1, keepdim=True))
dQ = H**-0.5 * dS @ K
dK = H**-0.5 * dS.transpose(1, 2) @ Q
dWq = to_weights(normed1, dQ)
dWk = to_weights(normed1, dK)
dWv = to_weights(normed1, dV)
dnormed1 = dQ @ Wq.T + dK @ Wk.T + dV @ Wv.T
dgain1 = (dnormed1 * xhat1).sum(0).sum(0)
dbias1 = dnormed1.sum(0).sum(0)
dxhat1 = gain1 * dnormed1
dx = dmid + through_norm(dxhat1, xhat1, inv1)
