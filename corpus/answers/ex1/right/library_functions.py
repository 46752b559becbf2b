# Functions of the library instead of operators: addcmul, lerp, index_select, take_along_dim, fold, segment sums.
# answer: ex1-loss
dlogprobs = torch.scatter(torch.zeros_like(logprobs), 1, Yb.view(-1, 1), -1 / n)
# answer: ex1-softmax
dprobs = torch.mul(dlogprobs, torch.reciprocal(probs))
dcounts_sum_inv = torch.linalg.vecdot(counts, dprobs).unsqueeze(1)
dcounts_sum = torch.addcdiv(torch.zeros_like(counts_sum), dcounts_sum_inv, torch.square(counts_sum), value=-1)
dcounts = torch.addcmul(dcounts_sum.expand_as(counts), dprobs, counts_sum_inv)
# answer: ex1-max
dnorm_logits = torch.mul(counts, dcounts)
dlogit_maxes = torch.negative(torch.sum(dnorm_logits, dim=1, keepdim=True))
where = torch.topk(logits, 1, dim=1).indices
dlogits = torch.scatter_reduce(dnorm_logits, 1, where, dlogit_maxes, reduce="sum")
# answer: ex1-linear2
dh = F.linear(dlogits, W2)
dW2 = torch.linalg.multi_dot([h.T, dlogits])
db2 = torch.sum(dlogits, dim=0)
# answer: ex1-tanh
dhpreact = dh * torch.addcmul(torch.ones_like(h), h, h, value=-1)
# answer: ex1-batchnorm-scale
dbngain = torch.sum(torch.mul(bnraw, dhpreact), dim=0, keepdim=True)
dbnbias = torch.sum(dhpreact, dim=0, keepdim=True)
dbnraw = torch.mul(dhpreact, bngain)
# answer: ex1-batchnorm-variance
dbnvar_inv = torch.linalg.vecdot(bndiff, dbnraw, dim=0).unsqueeze(0)
dbnvar = torch.mul(torch.rsqrt(bnvar + 1e-5) ** 3, dbnvar_inv).div(-2)
dbndiff2 = torch.div(dbnvar.expand(n, n_hidden), n - 1)
# answer: ex1-batchnorm-mean
dbndiff = torch.add(torch.mul(bnvar_inv, dbnraw), torch.mul(bndiff, dbndiff2), alpha=2)
dbnmeani = torch.sum(dbndiff, dim=0, keepdim=True).negative()
dhprebn = torch.sub(dbndiff, torch.mean(dbndiff, dim=0, keepdim=True))
# answer: ex1-linear1
dembcat = F.linear(dhprebn, W1)
dW1 = torch.linalg.multi_dot([embcat.T, dhprebn])
db1 = torch.sum(dhprebn, dim=0)
# answer: ex1-embedding
demb = torch.unflatten(dembcat, 1, (block_size, n_embd))
flat = demb.flatten(0, 1)
dC = torch.stack([torch.bincount(Xb.flatten(), weights=column, minlength=vocab_size) for column in flat.T], dim=1)
dC = dC.to(C.dtype)
