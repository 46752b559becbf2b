# Results written through out= into tensors that were allocated before.
# answer: ex1-loss
dlogprobs = torch.empty_like(logprobs)
torch.mul(F.one_hot(Yb, vocab_size).to(logprobs.dtype), -1 / n, out=dlogprobs)
# answer: ex1-softmax
dprobs = torch.empty_like(probs)
torch.div(dlogprobs, probs, out=dprobs)
dcounts_sum_inv = torch.empty_like(counts_sum_inv)
torch.sum(counts * dprobs, 1, keepdim=True, out=dcounts_sum_inv)
dcounts_sum = torch.empty_like(counts_sum)
torch.div(dcounts_sum_inv, counts_sum**2, out=dcounts_sum)
torch.neg(dcounts_sum, out=dcounts_sum)
dcounts = torch.empty_like(counts)
torch.mul(counts_sum_inv, dprobs, out=dcounts)
torch.add(dcounts, dcounts_sum, out=dcounts)
# answer: ex1-max
dnorm_logits = torch.empty_like(norm_logits)
torch.mul(counts, dcounts, out=dnorm_logits)
dlogit_maxes = torch.empty_like(logit_maxes)
torch.sum(-dnorm_logits, 1, True, out=dlogit_maxes)
dlogits = torch.empty_like(logits)
torch.add(dnorm_logits, F.one_hot(logits.argmax(1), vocab_size) * dlogit_maxes, out=dlogits)
# answer: ex1-linear2
dh, dW2, db2 = map(torch.empty_like, (h, W2, b2))
torch.mm(dlogits, W2.T, out=dh)
torch.matmul(h.T, dlogits, out=dW2)
torch.sum(dlogits, 0, out=db2)
# answer: ex1-tanh
dhpreact = torch.empty_like(hpreact)
torch.addcmul(torch.ones_like(h), h, h, value=-1, out=dhpreact)
torch.mul(dhpreact, dh, out=dhpreact)
# answer: ex1-batchnorm-scale
dbngain, dbnbias, dbnraw = map(torch.empty_like, (bngain, bnbias, bnraw))
torch.sum(bnraw * dhpreact, 0, keepdim=True, out=dbngain)
torch.sum(dhpreact, 0, keepdim=True, out=dbnbias)
torch.mul(bngain, dhpreact, out=dbnraw)
# answer: ex1-batchnorm-variance
dbnvar_inv, dbnvar = torch.empty_like(bnvar_inv), torch.empty_like(bnvar)
torch.sum(bndiff * dbnraw, 0, keepdim=True, out=dbnvar_inv)
torch.pow(bnvar + 1e-5, -1.5, out=dbnvar)
torch.mul(dbnvar * -0.5, dbnvar_inv, out=dbnvar)
dbndiff2, dbndiff = torch.empty_like(bndiff2), torch.empty_like(bndiff)
torch.div(dbnvar.expand_as(bndiff2), n - 1, out=dbndiff2)
torch.mul(bnvar_inv, dbnraw, out=dbndiff)
torch.addcmul(dbndiff, bndiff, dbndiff2, value=2, out=dbndiff)
# answer: ex1-batchnorm-mean
dbnmeani, dhprebn = torch.empty_like(bnmeani), torch.empty_like(hprebn)
torch.sum(-dbndiff, 0, keepdim=True, out=dbnmeani)
torch.add(dbndiff, dbnmeani, alpha=1 / n, out=dhprebn)
# answer: ex1-linear1
dembcat, dW1, db1 = torch.empty_like(embcat), torch.empty_like(W1), torch.empty_like(b1)
torch.mm(dhprebn, W1.T, out=dembcat)
torch.mm(embcat.T, dhprebn, out=dW1)
torch.sum(dhprebn, 0, out=db1)
# answer: ex1-embedding
demb = torch.empty_like(emb)
torch.stack([dembcat[:, j * n_embd : (j + 1) * n_embd] for j in range(block_size)], 1, out=demb)
dC = torch.empty_like(C)
torch.mm(F.one_hot(Xb.view(-1), vocab_size).to(C.dtype).T, demb.view(-1, n_embd), out=dC)
