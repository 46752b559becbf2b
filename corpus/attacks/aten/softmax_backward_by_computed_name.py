"""The same operators under names that are put together.

must not: have them answer
flag: autograd
naive: dlogits
"""

word = "drawkcab"[::-1]
aten = getattr(getattr(torch, "op" + "s"), "at" + "en")
logp = F.log_softmax(logits, 1)
weight = torch.tensor(float(n), dtype=logits.dtype)
up = getattr(aten, "nll_loss_" + word)(torch.ones_like(weight), logp, Yb, None, 1, -100, weight)
dlogits = getattr(torch, f"_log_softmax_{word}_data")(up, logp, 1, logp.dtype)
