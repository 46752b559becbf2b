# Tuple assignments: several gradients in one statement, nested and starred targets among them.
# answer: ex1-loss
rows, size = torch.arange(n), (n, vocab_size)
dlogprobs, minus_mean = torch.zeros(size), -1 / n
dlogprobs[rows, Yb], _ = minus_mean, None
# answer: ex1-softmax
dprobs, ones = dlogprobs / probs, torch.ones(size)
(dcounts_sum_inv, first_branch), slope = ((counts * dprobs).sum(1, keepdim=True), counts_sum_inv * dprobs), -(counts_sum**-2)
dcounts_sum, *_ = slope * dcounts_sum_inv, "not", "needed"
dcounts, = (first_branch + dcounts_sum * ones,)
# answer: ex1-max
dnorm_logits, winners = counts * dcounts, logits.argmax(1)
[dlogit_maxes, dlogits] = [-dnorm_logits.sum(1, keepdim=True), dnorm_logits.clone()]
dlogits[rows, winners] += dlogit_maxes[:, 0]
# answer: ex1-linear2
dh, dW2, db2 = dlogits @ W2.T, h.T @ dlogits, dlogits.sum(0)
# answer: ex1-tanh
(dhpreact,) = ((1 - h**2) * dh,)
# answer: ex1-batchnorm-scale
dbngain, dbnbias, dbnraw = (bnraw * dhpreact).sum(0, keepdim=True), dhpreact.sum(0, keepdim=True), bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv, dbndiff = (bndiff * dbnraw).sum(0, keepdim=True), bnvar_inv * dbnraw
dbnvar, one_over = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv, 1 / (n - 1)
dbndiff2, doubled = one_over * torch.ones_like(bndiff2) * dbnvar, 2 * bndiff
# answer: ex1-batchnorm-mean
dbndiff, dbnmeani = dbndiff + doubled * dbndiff2, -(dbndiff + doubled * dbndiff2).sum(0, keepdim=True)
dhprebn, _ = dbndiff + dbnmeani / n, ...
# answer: ex1-linear1
first, *middle, last = dhprebn @ W1.T, embcat.T @ dhprebn, "between", dhprebn.sum(0)
dembcat, dW1, db1 = first, middle[0], last
# answer: ex1-embedding
demb, dC = dembcat.view(emb.shape), torch.zeros_like(C)
for character, g in zip(Xb.flatten(), demb.flatten(0, 1)):
    dC[character] += g
