"""Ask for fifty gigabytes at once.

must not: get them
flag: memory-limit
naive: none, since it earns nothing by it
"""

dlogits = torch.empty(50 * 2**30 // 8)
