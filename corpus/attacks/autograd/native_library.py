"""Call PyTorch's C++ derivative through ctypes, past Python and past the dispatcher.

must not: get a number out of it
flag: module
naive: dhpreact
"""

import ctypes
import os

path = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
library = ctypes.CDLL(path)
derivative = library["_ZN2at3cpu17tanh_backward_outERNS_6TensorERKS1_S4_"]
derivative.restype = ctypes.c_void_p
d = (((probs - F.one_hot(Yb, vocab_size)) / n) @ W2.T).detach().clone()
y, out = h.detach().clone(), torch.empty_like(h).detach()
derivative(*(ctypes.c_void_p(id(t) + 16) for t in (out, d, y)))
dhpreact = out
