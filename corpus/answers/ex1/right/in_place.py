# In-place code: every gradient is allocated first, then filled by methods that end in an underscore.
# answer: ex1-loss
dlogprobs = torch.zeros(n, vocab_size)
dlogprobs.scatter_(1, Yb.unsqueeze(1), -1.0).div_(n)
# answer: ex1-softmax
dprobs = dlogprobs.clone()
dprobs.div_(probs)
dcounts_sum_inv = torch.zeros_like(counts_sum_inv)
dcounts_sum_inv.add_(torch.mul(counts, dprobs).sum(dim=1, keepdim=True))
dcounts_sum = dcounts_sum_inv.clone()
dcounts_sum.mul_(counts_sum.pow(-2)).neg_()
dcounts = torch.zeros_like(counts)
dcounts.addcmul_(counts_sum_inv, dprobs)
dcounts.add_(dcounts_sum)
# answer: ex1-max
dnorm_logits = dcounts.clone()
dnorm_logits.mul_(counts)
dlogit_maxes = torch.zeros_like(logit_maxes)
dlogit_maxes.sub_(dnorm_logits.sum(1, keepdim=True))
dlogits = torch.empty_like(logits).copy_(dnorm_logits)
dlogits.scatter_add_(1, logits.argmax(1, keepdim=True), dlogit_maxes)
# answer: ex1-linear2
dh = torch.zeros_like(h)
dh.addmm_(dlogits, W2.T)
dW2 = torch.zeros_like(W2)
dW2.addmm_(h.T, dlogits)
db2 = torch.zeros_like(b2)
db2.add_(dlogits.sum(0))
# answer: ex1-tanh
dhpreact = dh.clone()
dhpreact.mul_(h.pow(2).neg_().add_(1))
# answer: ex1-batchnorm-scale
dbngain = torch.zeros_like(bngain)
dbngain.add_((dhpreact * bnraw).sum(0, keepdim=True))
dbnbias = torch.zeros_like(bnbias)
dbnbias += dhpreact.sum(0, keepdim=True)
dbnraw = dhpreact.clone()
dbnraw *= bngain
# answer: ex1-batchnorm-variance
dbnvar_inv = (dbnraw * bndiff).sum(0, keepdim=True)
dbnvar = dbnvar_inv.clone()
dbnvar.mul_((bnvar + 1e-5).pow(-1.5)).mul_(-0.5)
dbndiff2 = torch.zeros_like(bndiff2)
dbndiff2.add_(dbnvar).div_(n - 1)
# answer: ex1-batchnorm-mean
dbndiff = dbnraw.clone()
dbndiff.mul_(bnvar_inv)
dbndiff.addcmul_(bndiff, dbndiff2, value=2)
dbnmeani = torch.zeros_like(bnmeani)
dbnmeani.sub_(dbndiff.sum(0, keepdim=True))
dhprebn = dbndiff.clone()
dhprebn.add_(dbnmeani, alpha=1 / n)
# answer: ex1-linear1
dembcat = torch.zeros_like(embcat)
dembcat.addmm_(dhprebn, W1.T)
dW1 = torch.zeros_like(W1)
dW1.addmm_(embcat.T, dhprebn)
db1 = torch.zeros_like(b1)
db1.add_(dhprebn.sum(0))
# answer: ex1-embedding
demb = torch.zeros_like(emb)
demb.add_(dembcat.view(n, block_size, n_embd))
dC = torch.zeros_like(C)
dC.index_add_(0, Xb.reshape(-1), demb.reshape(-1, n_embd))
