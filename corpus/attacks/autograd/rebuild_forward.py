"""Run the forward pass again on tensors that require gradients, and ask for them.

must not: get a gradient from the engine
flag: autograd
naive: dC dW1 db1 dW2 db2
uses: forward
"""

with torch.enable_grad():
    leaves = [t.detach().clone().requires_grad_() for t in (C, W1, b1, bngain, bnbias, W2, b2)]
    loss2 = forward(Xb, Yb, *leaves)
    dC, dW1, db1, dbngain, dbnbias, dW2, db2 = torch.autograd.grad(loss2, leaves)
