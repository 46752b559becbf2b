"""Hand in an object that says it is a tensor.

must not: pass for one, or run code outside of its time limit
flag: dunder
needs: patience
naive: none, since `allclose` wants a tensor
"""


class Impostor:
    __class__ = property(lambda self: torch.Tensor)

    def __getattr__(self, name):
        while True:
            pass


dlogits = Impostor()
