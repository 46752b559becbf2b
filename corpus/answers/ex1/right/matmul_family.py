# Every product with another function: mm, matmul, bmm, tensordot, outer, addmm, mv, dot, linear, chain_matmul.
# answer: ex1-loss
dlogprobs = torch.mul(torch.eye(vocab_size).index_select(0, Yb), -1 / n).to(logprobs.dtype)
# answer: ex1-softmax
dprobs = torch.div(dlogprobs, probs)
dcounts_sum_inv = torch.bmm(counts.unsqueeze(1), dprobs.unsqueeze(2)).squeeze(2)
dcounts_sum = torch.mul(dcounts_sum_inv, torch.neg(torch.pow(counts_sum, -2)))
dcounts = torch.addmm(torch.mul(counts_sum_inv, dprobs), dcounts_sum, torch.ones(1, vocab_size))
# answer: ex1-max
dnorm_logits = torch.mul(counts, dcounts)
dlogit_maxes = torch.mv(dnorm_logits, torch.full((vocab_size,), -1.0)).unsqueeze(-1)
dlogits = torch.add(dnorm_logits, torch.mul(F.one_hot(logits.argmax(1), vocab_size), dlogit_maxes))
# answer: ex1-linear2
dh = torch.mm(dlogits, W2.t())
dW2 = torch.matmul(torch.transpose(h, 0, 1), dlogits)
db2 = torch.tensordot(torch.ones(n), dlogits, dims=1)
# answer: ex1-tanh
dhpreact = torch.addcmul(dh, dh, torch.mul(h, h), value=-1)
# answer: ex1-batchnorm-scale
dbngain = torch.stack([torch.dot(bnraw[:, j], dhpreact[:, j]) for j in range(n_hidden)]).unsqueeze(0)
dbnbias = torch.matmul(torch.ones(1, n), dhpreact)
dbnraw = torch.matmul(dhpreact, torch.diag(bngain[0]))
# answer: ex1-batchnorm-variance
dbnvar_inv = torch.diagonal(torch.mm(bndiff.t(), dbnraw)).view(1, n_hidden)
dbnvar = torch.mul(torch.pow(torch.add(bnvar, 1e-5), -1.5), torch.mul(dbnvar_inv, -0.5))
dbndiff2 = torch.outer(torch.full((n,), 1 / (n - 1)), dbnvar[0])
# answer: ex1-batchnorm-mean
dbndiff = torch.addcmul(torch.mm(dbnraw, torch.diag_embed(bnvar_inv[0])), bndiff, dbndiff2, value=2)
dbnmeani = torch.tensordot(-torch.ones(1, n), dbndiff, dims=([1], [0]))
dhprebn = torch.addr(dbndiff, torch.full((n,), 1 / n), dbnmeani.squeeze(0))
# answer: ex1-linear1
dembcat = F.linear(dhprebn, W1)
dW1 = torch.einsum("...i,...j->ij", embcat, dhprebn)
db1 = dhprebn.T.mv(torch.ones(n))
# answer: ex1-embedding
demb = dembcat.reshape(n, block_size, n_embd)
dC = torch.tensordot(F.one_hot(Xb, vocab_size).to(C.dtype), demb, dims=([0, 1], [0, 1]))
