# Masks: comparisons that are true in one place of each row, torch.where, masked_fill, masked_select.
# answer: ex1-loss
is_target = torch.arange(vocab_size)[None] == Yb[:, None]
dlogprobs = torch.zeros_like(logprobs).masked_fill(is_target, -1 / n)
# answer: ex1-softmax
dprobs = torch.where(is_target, dlogprobs / probs, torch.zeros_like(probs))
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = torch.where(is_target, counts_sum_inv * dprobs + dcounts_sum, dcounts_sum)
# answer: ex1-max
dnorm_logits = counts * dcounts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
is_max = logits == logit_maxes
dlogits = torch.where(is_max, dnorm_logits + dlogit_maxes, dnorm_logits)
# answer: ex1-linear2
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
# answer: ex1-tanh
dhpreact = torch.where(h > 0, (1 - h) * (1 + h), 1 - h * h) * dh
# answer: ex1-batchnorm-scale
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * bnvar_inv.pow(3) * dbnvar_inv
dbndiff2 = torch.zeros_like(bndiff2).masked_fill(bndiff2 >= 0, 1 / (n - 1)) * dbnvar
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw + 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + dbnmeani / n
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C)
for character in Xb.unique():
    mask = (Xb == character).unsqueeze(-1)
    dC[character] = torch.masked_select(demb, mask).view(-1, n_embd).sum(0)
