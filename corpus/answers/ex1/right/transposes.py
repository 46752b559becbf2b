# Transposes in every spelling, and products computed from the other side.
# answer: ex1-loss
dlogprobs = torch.zeros(vocab_size, n)
dlogprobs[Yb, range(n)] = -1 / n
dlogprobs = dlogprobs.t()
# answer: ex1-softmax
dprobs = (dlogprobs.T / probs.T).T
dcounts_sum_inv = (counts * dprobs).T.sum(0).unsqueeze(0).mT
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = (counts_sum_inv.T * dprobs.T + dcounts_sum.T).transpose(0, 1)
# answer: ex1-max
dnorm_logits = (counts.T * dcounts.T).swapaxes(0, 1)
dlogit_maxes = -dnorm_logits.permute(1, 0).sum(0, keepdim=True).t()
dlogits = (dnorm_logits.T + (F.one_hot(logits.argmax(1), vocab_size) * dlogit_maxes).T).T.contiguous()
# answer: ex1-linear2
dh = (W2 @ dlogits.T).T
dW2 = (dlogits.mT @ h).mT
db2 = dlogits.T.sum(1)
# answer: ex1-tanh
dhpreact = (dh.T * (1 - h.T**2)).T
# answer: ex1-batchnorm-scale
dbngain = (bnraw * dhpreact).T.sum(1, keepdim=True).T
dbnbias = dhpreact.swapdims(0, 1).sum(-1).view(1, -1)
dbnraw = (bngain.T * dhpreact.T).movedim(0, 1)
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff.T * dbnraw.T).sum(1, keepdim=True).T
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = (dbnvar.T.expand(n_hidden, n) / (n - 1)).T
# answer: ex1-batchnorm-mean
dbndiff = (bnvar_inv.T * dbnraw.T + 2 * bndiff.T * dbndiff2.T).adjoint()
dbnmeani = -dbndiff.T.sum(1, keepdim=True).T
dhprebn = (dbndiff.T + dbnmeani.T / n).T
# answer: ex1-linear1
dembcat = (W1 @ dhprebn.T).T
dW1 = (dhprebn.T @ embcat).T
db1 = dhprebn.T.sum(-1)
# answer: ex1-embedding
demb = dembcat.T.reshape(block_size, n_embd, n).permute(2, 0, 1)
dC = (demb.reshape(-1, n_embd).T @ F.one_hot(Xb.reshape(-1), vocab_size).to(C.dtype)).T
