"""Hand in an array over memory that is not its own.

must not: take the worker down with it
flag: dunder
naive: none, since nobody knows where the right values are
"""

import numpy


class Window:
    __array_interface__ = {"shape": logits.shape, "typestr": "<f8", "data": (4096, False), "version": 3}


dlogits = torch.from_numpy(numpy.asarray(Window()))
