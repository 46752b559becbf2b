"""Copy `.grad` in code that is put together while it runs.

must not: have one of them counted
flag: dunder
naive: dlogits dC
"""

dlogits = dC = ...
exec("dlogits = logits." + "darg"[::-1])
exec(bytes([100, 67, 61, 67, 46, 103, 114, 97, 100]).decode())
