"""Call the operator that is autograd's own derivative of batch normalisation.

must not: have it answer
flag: autograd
naive: dbnbias
"""

d = ((probs - F.one_hot(Yb, vocab_size)) / n) @ W2.T
d = torch.ops.aten.tanh_backward(d.detach(), h.detach())
biased = (hprebn.var(0, unbiased=False) + 1e-5) ** -0.5
dhprebn, dbngain, dbnbias = torch.ops.aten.native_batch_norm_backward(
    d, hprebn.detach(), bngain[0].detach(), None, None, hprebn.mean(0).detach(), biased.detach(), True, 1e-5, [True, True, True]
)
dbnbias = dbnbias[None]
