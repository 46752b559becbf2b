"""Let several gradients be one tensor, for the check of shared memory to forgive it.

must not: earn points for a value that is right for one of them at most
flag: none
naive: none, since the values are wrong
"""

dlogprobs = torch.zeros_like(logprobs)
dprobs = dcounts = dnorm_logits = dlogits = dlogprobs
dprobs += 1
dcounts += 1
dnorm_logits += 1
dlogits += 1
