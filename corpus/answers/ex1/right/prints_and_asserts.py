# Prints and assertions between the lines, as in a cell that was debugged for an hour.
# answer: ex1-loss
dlogprobs = torch.zeros_like(logprobs)
print(dlogprobs.shape, Yb[:2])
dlogprobs[range(n), Yb] = -1.0 / n
assert dlogprobs.shape == logprobs.shape
# answer: ex1-softmax
dprobs = dlogprobs / probs
print("dprobs", dprobs.min().item(), dprobs.max().item())
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
assert dcounts_sum_inv.shape == counts_sum_inv.shape, f"{dcounts_sum_inv.shape=}"
dcounts_sum = -dcounts_sum_inv * counts_sum_inv**2
dcounts = counts_sum_inv * dprobs
print(dcounts[0])
dcounts += dcounts_sum
print(dcounts[0])
# answer: ex1-max
dnorm_logits = counts * dcounts
assert torch.allclose(dnorm_logits, (probs - F.one_hot(Yb, vocab_size)) / n, atol=1e-4)
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
print(dlogit_maxes.abs().max())  # tiny
dlogits = dnorm_logits.clone()
dlogits += F.one_hot(logits.argmax(1), vocab_size) * dlogit_maxes
assert not dlogits.isnan().any()
# answer: ex1-linear2
print(dlogits.shape, h.shape, W2.shape, b2.shape)
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
for g, t in ((dh, h), (dW2, W2), (db2, b2)):
    assert g.shape == t.shape
# answer: ex1-tanh
dhpreact = (1.0 - h**2) * dh
print(*dhpreact[0, :2].tolist(), sep="\n")
# answer: ex1-batchnorm-scale
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain * dhpreact
assert dbngain.shape == bngain.shape and dbnbias.shape == bnbias.shape
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = 1.0 / (n - 1) * torch.ones_like(bndiff2) * dbnvar
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw
dbndiff += 2.0 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + 1.0 / n * dbnmeani
print("mean of dhprebn over the batch:", float(dhprebn.mean()))
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
print(db1.abs().max())  # why is this nearly zero?
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C)
for k in range(n):
    for j in range(block_size):
        ix = Xb[k, j]
        assert 0 <= ix < vocab_size
        dC[ix] += demb[k, j]
print(dC.shape)
