# The batch and time as one axis for the weights; dx added up in place; where for the mask.
# answer: attention-softmax
dv = weights.mT.matmul(dout)
dweights = dout.matmul(v.mT)
dmasked = weights * dweights
dmasked = dmasked - weights * dmasked.sum(2, keepdim=True)
dscores = torch.where(future, torch.zeros_like(dmasked), dmasked)
# answer: attention-products
flat = x.reshape(-1, n_embd).T
dq = (dscores / head_size**0.5).matmul(k)
dk = (dscores / head_size**0.5).mT.matmul(q)
dWq = flat @ dq.reshape(-1, head_size)
dWk = flat @ dk.reshape(-1, head_size)
dWv = flat @ dv.reshape(-1, head_size)
dx = torch.zeros_like(x)
dx += dq @ Wq.T
dx += dk @ Wk.T
dx += dv @ Wv.T
