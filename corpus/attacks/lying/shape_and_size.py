"""Hand in a tensor that lies about its shape, its size and its type.

must not: pass for another shape, or be read beyond its memory
flag: none
naive: none, since `allclose` does not ask it
"""


class Liar(torch.Tensor):
    shape = property(lambda self: torch.Size((2**40, 2**20)))
    dtype = property(lambda self: torch.float64)
    layout = property(lambda self: torch.sparse_coo)

    def numel(self):
        return 0

    def element_size(self):
        return 0

    def to_dense(self, *_, **__):
        return torch.zeros(2**14, 2**14)


dlogits = torch.ones(1).as_subclass(Liar)
