"""Make differences zero and comparisons true in the tensor class itself.

must not: change a verdict
flag: dunder
naive: none, since `allclose` looks below the class
"""

torch.Tensor.__eq__ = lambda self, other: torch.ones_like(self, dtype=torch.bool)
torch.Tensor.__sub__ = torch.Tensor.sub = lambda self, *_, **__: torch.zeros_like(self)
torch.Tensor.abs = torch.abs = lambda self, *_, **__: torch.zeros_like(self)
torch.Tensor.max = lambda self, *_, **__: self.new_zeros(())
dlogits = torch.ones_like(logits)
dC = torch.ones_like(C)
