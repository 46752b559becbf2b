# A function that returns what a layer's backward pass returns, and a sum of named branches.
# answer: layernorm-layers
def linear_backward(upstream, inputs, weights):
    return upstream @ weights.mT, inputs.mT @ upstream, upstream.sum(0)


dupdate = 1.0 * dout
dpre = dupdate * (1 - torch.tanh(pre) ** 2)
dnormed, dW, db = linear_backward(dpre, normed, W)
# answer: layernorm-rest
dgain, dbias, dxhat = (dnormed * xhat).sum(0), dnormed.sum(0), dnormed * gain
centred = x - mean
dinv = torch.sum(dxhat * centred, dim=1, keepdim=True)
dvar = dinv * (-inv / (2 * (var + 1e-5)))
dmean = (-dxhat * inv).sum(1).unsqueeze(1)
through_xhat = dxhat * inv
through_mean = dmean.expand(n, n_embd) / n_embd
through_var = 2 * dvar * centred / n_embd
dx = through_xhat + through_mean + through_var + dout
