# Each branch of a tensor that is used twice gets a name of its own, and a last line adds them up.
# answer: ex1-loss
upstream_of_mean = torch.ones(n) / n
upstream_of_minus = -upstream_of_mean
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = upstream_of_minus
# answer: ex1-softmax
dprobs = probs**-1 * dlogprobs
dcounts1 = counts_sum_inv * dprobs
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = -1.0 * counts_sum**-2.0 * dcounts_sum_inv
dcounts2 = dcounts_sum.expand(-1, counts.shape[1])
dcounts = dcounts1 + dcounts2
# answer: ex1-max
dnorm_logits = counts * dcounts
dlogits1 = dnorm_logits
dlogit_maxes = -1 * dnorm_logits.sum(1, keepdim=True)
dlogits2 = torch.zeros_like(logits)
dlogits2[range(n), logits.max(1).indices] = dlogit_maxes.squeeze()
dlogits = dlogits1 + dlogits2
# answer: ex1-linear2
dhW2 = dlogits
db2 = dlogits.sum(0)
dh = dhW2 @ W2.T
dW2 = h.T @ dhW2
# answer: ex1-tanh
dtanh = 1 - torch.square(h)
dhpreact = dtanh * dh
# answer: ex1-batchnorm-scale
dscaled = dhpreact
dbnbias = dhpreact.sum(0, keepdim=True)
dbngain = (bnraw * dscaled).sum(0, keepdim=True)
dbnraw = bngain * dscaled
dbndiff1 = bnvar_inv * dbnraw
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar_plus_eps = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbnvar = dbnvar_plus_eps
dsum = 1 / (n - 1) * dbnvar
dbndiff2 = dsum.expand(n, -1)
dbndiff_second = 2 * bndiff * dbndiff2
# answer: ex1-batchnorm-mean
dbndiff = dbndiff1 + dbndiff_second
dhprebn1 = dbndiff
dbnmeani = (-dbndiff).sum(0, keepdim=True)
dsum2 = 1 / n * dbnmeani
dhprebn2 = dsum2.expand(n, -1)
dhprebn = dhprebn1 + dhprebn2
# answer: ex1-linear1
dproduct = dhprebn
db1 = dhprebn.sum(0)
dembcat = dproduct @ W1.T
dW1 = embcat.T @ dproduct
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC_by_position = []
for j in range(block_size):
    dC_j = torch.zeros_like(C)
    dC_j.index_add_(0, Xb[:, j], demb[:, j])
    dC_by_position.append(dC_j)
dC = torch.stack(dC_by_position).sum(0)
