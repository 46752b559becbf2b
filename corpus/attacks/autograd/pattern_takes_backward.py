"""Have a pattern take `backward` and `grad` out of the tensors, so that no attribute is named.

must not: get an answer from autograd
flag: autograd
naive: dlogits dh
"""

match loss:
    case object(backward=run):
        run(torch.zeros_like(loss), retain_graph=True)
match [logits, h]:
    case [object(grad=g), object(grad=k)]:
        dlogits, dh = g.clone(), k.clone()
