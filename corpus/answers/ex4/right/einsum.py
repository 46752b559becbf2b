# Every product as an Einstein sum.
# answer: ex4-output
from torch import einsum
eye = torch.eye(vocab_size)
dlogits = (torch.softmax(logits, -1) - eye[Yb]) / n
dh = einsum("nv,hv->nh", dlogits, W2)
dW2 = einsum("nh,nv->hv", h, dlogits)
db2 = einsum("nv->v", dlogits)
dhpreact = (1 - torch.tanh(hpreact) ** 2) * dh
dbngain = einsum("nh,nh->h", dhpreact, bnraw).view(1, -1)
dbnbias = einsum("nh->h", dhpreact).view(1, -1)
centred = dhpreact - dhpreact.mean(0)
dhprebn = bngain * bnvar_inv * (centred - bnraw * dbngain / (n - 1))
dembcat = einsum("nh,ih->ni", dhprebn, W1)
dW1 = einsum("ni,nh->ih", embcat, dhprebn)
db1 = einsum("nh->h", dhprebn)
demb = dembcat.view(n, block_size, n_embd)
dC = einsum("npv,npe->ve", eye[Xb], demb)
