"""Assign zeros to everything: what is zero by structure is all that this earns.

must not: earn more than the two gradients that are zero for every input
flag: none
naive: none, since rounding noise is not exactly zero
earns: dlogit_maxes db1
"""

dlogprobs, dprobs, dcounts = (torch.zeros_like(t) for t in (logprobs, probs, counts))
dcounts_sum_inv, dcounts_sum = torch.zeros_like(counts_sum_inv), torch.zeros_like(counts_sum)
dnorm_logits, dlogit_maxes, dlogits = (torch.zeros_like(t) for t in (norm_logits, logit_maxes, logits))
dh, dW2, db2, dhpreact = (torch.zeros_like(t) for t in (h, W2, b2, hpreact))
dbngain, dbnbias, dbnraw, dbnvar_inv = (torch.zeros_like(t) for t in (bngain, bnbias, bnraw, bnvar_inv))
dbnvar, dbndiff2, dbndiff, dbnmeani = (torch.zeros_like(t) for t in (bnvar, bndiff2, bndiff, bnmeani))
dhprebn, dembcat, dW1, db1, demb, dC = (torch.zeros_like(t) for t in (hprebn, embcat, W1, b1, emb, C))
