"""Hand in a tensor that copies, clones and detaches itself into something else.

must not: be asked to copy itself
flag: none
naive: none, since nothing naive copies it
"""


class Chameleon(torch.Tensor):
    def __deepcopy__(self, memo):
        raise SystemExit

    def __reduce_ex__(self, protocol):
        return (exec, ("raise SystemExit",))

    clone = detach = to_dense = copy_ = to = cpu = contiguous = lambda self, *_, **__: None


dlogits = torch.ones_like(logits).detach().as_subclass(Chameleon)
