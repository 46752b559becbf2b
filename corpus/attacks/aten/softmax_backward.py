"""Call the operators that are autograd's own derivatives of the softmax and the loss.

must not: have them answer
flag: autograd
naive: dlogits
"""

logp = F.log_softmax(logits, 1)
weight = torch.tensor(float(n), dtype=logits.dtype)
up = torch.ops.aten.nll_loss_backward(torch.ones_like(weight), logp, Yb, None, 1, -100, weight)
dlogits = torch._log_softmax_backward_data(up, logp, 1, logp.dtype)
