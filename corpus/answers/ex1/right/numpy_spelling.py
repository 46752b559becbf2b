# The spelling of numpy for torch: axis= for dim=, keepdims in position, np.newaxis as None, sum(list) of rows.
# answer: ex1-loss
dlogprobs = logprobs * 0
dlogprobs[range(n), Yb] = -n**-1
# answer: ex1-softmax
dprobs = dlogprobs * probs**-1
dcounts_sum_inv = torch.sum(counts * dprobs, 1, True)
dcounts_sum = -1 * dcounts_sum_inv * counts_sum_inv * counts_sum_inv
dcounts = counts_sum_inv * dprobs + (counts * 0 + 1) * dcounts_sum
# answer: ex1-max
dnorm_logits = counts * dcounts
dlogit_maxes = -dnorm_logits.sum(axis=1)[:, None]
dlogits = dnorm_logits + (torch.arange(vocab_size) == logits.argmax(axis=1)[:, None]) * dlogit_maxes
# answer: ex1-linear2
dh = (dlogits[:, None, :] * W2[None, :, :]).sum(axis=-1)
dW2 = (h[:, :, None] * dlogits[:, None, :]).sum(axis=0)
db2 = dlogits.sum(axis=0)
# answer: ex1-tanh
dhpreact = (1 + h) * (1 - h) * dh
# answer: ex1-batchnorm-scale
dbngain = (bnraw * dhpreact).sum(axis=0, keepdim=True)
dbnbias = torch.sum(dhpreact, 0, True)
dbnraw = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(axis=0)[None]
dbnvar = -(((bnvar + 1e-5) ** 0.5) ** -3) / 2 * dbnvar_inv
dbndiff2 = (bndiff2 * 0 + 1) * dbnvar / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw + (bndiff + bndiff) * dbndiff2
dbnmeani = -sum(list(dbndiff))[None]
dhprebn = dbndiff - dbndiff.mean(axis=0)
# answer: ex1-linear1
dembcat = (dhprebn[:, None, :] * W1[None]).sum(axis=2)
dW1 = (embcat[..., None] * dhprebn[:, None]).sum(axis=0)
db1 = sum(list(dhprebn))
# answer: ex1-embedding
demb = dembcat.reshape((-1, block_size, n_embd))
dC = ((Xb[..., None] == torch.arange(vocab_size))[..., None] * demb[:, :, None]).sum(axis=1).sum(axis=0)
