"""Run bytecode that is none, which crashes the interpreter.

must not: end the worker
flag: dunder ended-process
naive: none, since nothing comes back
"""


def f():
    return 1


dlogits = torch.ones_like(logits)
f.__code__ = f.__code__.replace(co_code=bytes([151, 0, 124, 255, 83, 0]))
f()
