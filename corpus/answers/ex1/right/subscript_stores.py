# Subscript stores: empty tensors filled through rows, columns, slices, masks and ellipses.
# answer: ex1-loss
dlogprobs = torch.empty_like(logprobs)
dlogprobs[...] = 0
dlogprobs[torch.arange(n), Yb] = -1 / n
# answer: ex1-softmax
dprobs = torch.empty_like(probs)
dprobs[:] = dlogprobs / probs
dcounts_sum_inv = torch.empty_like(counts_sum_inv)
dcounts_sum_inv[:, 0] = (counts * dprobs).sum(1)
dcounts_sum = torch.empty(n, 1)
dcounts_sum[:] = -dcounts_sum_inv / counts_sum**2
dcounts = torch.empty_like(counts)
dcounts[:] = dcounts_sum
dcounts[:, ::1] += dprobs * counts_sum_inv
# answer: ex1-max
dnorm_logits = torch.empty_like(norm_logits)
for v in range(vocab_size):
    dnorm_logits[:, v] = counts[:, v] * dcounts[:, v]
dlogit_maxes = torch.empty_like(logit_maxes)
dlogit_maxes[:, :1] = -dnorm_logits.sum(1)[:, None]
dlogits = torch.empty_like(logits)
dlogits[..., :] = dnorm_logits[..., :]
dlogits[torch.arange(n), logits.max(dim=1)[1]] += dlogit_maxes[..., 0]
# answer: ex1-linear2
dh, dW2, db2 = torch.empty_like(h), torch.empty_like(W2), torch.empty_like(b2)
for v in range(vocab_size):
    dW2[:, v] = h.T @ dlogits[:, v]
    db2[v] = dlogits[:, v].sum()
for j in range(n_hidden):
    dh[:, j] = dlogits @ W2[j]
# answer: ex1-tanh
dhpreact = torch.empty_like(hpreact)
dhpreact[:] = dh
dhpreact[:] *= 1 - h**2
# answer: ex1-batchnorm-scale
dbngain, dbnbias = torch.empty(1, n_hidden), torch.empty(1, n_hidden)
dbngain[0], dbnbias[0] = (bnraw * dhpreact).sum(0), dhpreact.sum(0)
dbnraw = torch.empty_like(bnraw)
dbnraw[:] = bngain * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = torch.empty_like(bnvar_inv)
dbnvar_inv[0, :] = (bndiff * dbnraw).sum(0)
dbnvar = torch.empty_like(bnvar)
dbnvar[0, :] = -0.5 * (bnvar[0] + 1e-5) ** -1.5 * dbnvar_inv[0]
dbndiff2 = torch.empty_like(bndiff2)
dbndiff2[:, :] = dbnvar[0] / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = torch.empty_like(bndiff)
dbndiff[:] = bnvar_inv * dbnraw
dbndiff[:] += 2 * bndiff * dbndiff2
dbnmeani = torch.empty_like(bnmeani)
dbnmeani[0] = -dbndiff.sum(0)
dhprebn = torch.empty_like(hprebn)
for i in range(n):
    dhprebn[i] = dbndiff[i] + dbnmeani[0] / n
# answer: ex1-linear1
dembcat, dW1, db1 = torch.empty_like(embcat), torch.empty_like(W1), torch.empty_like(b1)
dembcat[:], dW1[:], db1[:] = dhprebn @ W1.T, embcat.T @ dhprebn, dhprebn.sum(0)
# answer: ex1-embedding
demb = torch.empty_like(emb)
for j in range(block_size):
    demb[:, j, :] = dembcat[:, j * n_embd : (j + 1) * n_embd]
dC = torch.empty_like(C)
dC[:] = 0
for i, j in torch.cartesian_prod(torch.arange(n), torch.arange(block_size)).tolist():
    dC[Xb[i, j], :] += demb[i, j, :]
