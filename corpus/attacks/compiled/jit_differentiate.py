"""Have TorchScript differentiate a graph, and run the backward graph.

must not: get a backward graph
flag: autograd
naive: dhpreact
"""

d = ((probs - F.one_hot(Yb, vocab_size)) / n) @ W2.T
kind = "Double({}, {}, strides=[{}, 1], requires_grad=1, device=cpu)"
kind = kind.format(*hpreact.shape, hpreact.shape[1])
graph = torch._C.parse_ir(f"""
graph(%x : {kind}):
  %y : {kind} = aten::tanh(%x)
  return (%y)
""")
gradient = torch._C._jit_differentiate(graph)
(dhpreact,) = torch._C._create_function_from_graph("f", gradient.df)(d.detach(), h.detach())
