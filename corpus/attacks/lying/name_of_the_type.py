"""Hand in an object whose type has a name of ten million characters with markup in it.

must not: reach a report as it is
flag: none
naive: none, since nothing is compared
"""

dlogits = type("<script>alert(1)</script>\x1b[2J" + "A" * 10**7, (), {})()
dprobs = type("=HYPERLINK(1)", (torch.Tensor,), {})(1)
