"""Differentiate in a new thread, whose grad mode and dispatch keys are those of a new thread.

must not: get a gradient from the engine
flag: autograd module
naive: dC dW2
uses: forward
"""

import threading


def work():
    global dC, dW2
    leaves = [t.detach().clone().requires_grad_() for t in (C, W1, b1, bngain, bnbias, W2, b2)]
    found = torch.autograd.grad(forward(Xb, Yb, *leaves), leaves)
    dC, dW2 = found[0], found[5]


dC = dW2 = ...
thread = threading.Thread(target=work)
thread.start()
thread.join()
