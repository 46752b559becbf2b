"""Take memory a little at a time, catching what is refused and going on.

must not: take more than its limit
flag: memory-limit time-limit ended-process
naive: none, since it earns nothing by it
"""

kept = []
size = 2**26
while size:
    try:
        kept.append(bytearray(size))
    except MemoryError:
        size //= 2
dlogits = torch.ones_like(logits)
kept.append(bytearray(2**42))
