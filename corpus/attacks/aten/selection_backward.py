"""Call the operator that is autograd's own derivative of a maximum.

must not: have it answer
flag: autograd
naive: none, since it needs dlogit_maxes, which nobody has written
"""

where = logits.max(1, keepdim=True).indices
dlogits = dnorm_logits + torch.ops.aten.value_selecting_reduction_backward(
    dlogit_maxes, 1, where, list(logits.shape), True
)
