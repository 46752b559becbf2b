# Batch normalisation in the small steps of notebook 1.
# answer: ex4-output
logprobs = F.log_softmax(logits, 1)
dlogprobs = torch.zeros_like(logits)
dlogprobs[torch.arange(n), Yb] = -1.0 / n
dlogits = dlogprobs - logprobs.exp() * dlogprobs.sum(1, keepdim=True)
dh = dlogits.matmul(W2.t())
dW2 = h.t().matmul(dlogits)
db2 = dlogits.sum(dim=0)
dhpreact = dh * (1 - h.square())
dbngain = (dhpreact * bnraw).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = dhpreact * bngain
diff = hprebn - bnmean
dbnvar_inv = (dbnraw * diff).sum(0, keepdim=True)
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
ddiff = dbnraw * bnvar_inv + dbnvar * 2 / (n - 1) * diff
dbnmean = -ddiff.sum(0, keepdim=True)
dhprebn = ddiff + dbnmean / n
dembcat = dhprebn.matmul(W1.t())
dW1 = embcat.t().matmul(dhprebn)
db1 = dhprebn.sum(dim=0)
demb = dembcat.view_as(emb)
dC = torch.zeros_like(C).index_put_((Xb,), demb, accumulate=True)
