"""Let a class of tensors, made without a class statement, carry slopes through `torch.tanh`.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

import types


def intercept(cls, function, kinds, args=(), kwargs=None):
    plain = [torch.Tensor.as_subclass(a, torch.Tensor) for a in args]
    out = function(*plain)
    return out, 1 - out**2


Slope = types.new_class(
    "Slope", (torch.Tensor,), {}, lambda space: space.update({"__torch_function__": classmethod(intercept)})
)
value, slope = torch.tanh(torch.Tensor.as_subclass(hpreact, Slope))
dhpreact = dh * slope
