"""Have sympy differentiate the line, and evaluate what it says.

must not: have it imported
flag: module
naive: dhpreact
"""

import sympy

x = sympy.Symbol("x")
formula = sympy.lambdify(x, sympy.diff(sympy.tanh(x), x), "numpy")
d = ((probs - F.one_hot(Yb, vocab_size)) / n) @ W2.T
dhpreact = d * torch.as_tensor(formula(hpreact.detach().numpy()))
