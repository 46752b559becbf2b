# Helper functions that change their argument and return nothing.
# answer: ex1-loss
def accumulate(target, contribution):
    target += contribution

def scale(target, factor):
    target.mul_(factor)

def pour_rows(target, rows, values):
    for row, value in zip(rows.tolist(), values):
        target[row] += value

def add_at_the_largest(target, scores, column):
    target[torch.arange(len(scores)), scores.argmax(1)] += column.squeeze(1)

dlogprobs = torch.zeros_like(logprobs)
accumulate(dlogprobs, -F.one_hot(Yb, vocab_size))
scale(dlogprobs, 1 / n)
# answer: ex1-softmax
dprobs = torch.zeros_like(probs)
accumulate(dprobs, dlogprobs)
scale(dprobs, 1 / probs)
dcounts_sum_inv = torch.zeros_like(counts_sum_inv)
accumulate(dcounts_sum_inv, (dprobs * counts).sum(1, keepdim=True))
dcounts_sum = torch.zeros_like(counts_sum)
accumulate(dcounts_sum, dcounts_sum_inv)
scale(dcounts_sum, -1 / counts_sum**2)
dcounts = torch.zeros_like(counts)
accumulate(dcounts, dprobs)
scale(dcounts, counts_sum_inv)
accumulate(dcounts, dcounts_sum)
# answer: ex1-max
dnorm_logits = dcounts.clone()
scale(dnorm_logits, counts)
dlogit_maxes = torch.zeros_like(logit_maxes)
accumulate(dlogit_maxes, dnorm_logits.sum(1, keepdim=True))
scale(dlogit_maxes, -1)
dlogits = dnorm_logits.clone()
add_at_the_largest(dlogits, logits, dlogit_maxes)
# answer: ex1-linear2
dh, dW2, db2 = torch.zeros_like(h), torch.zeros_like(W2), torch.zeros_like(b2)
accumulate(dh, dlogits @ W2.T)
accumulate(dW2, h.T @ dlogits)
accumulate(db2, dlogits.sum(0))
# answer: ex1-tanh
dhpreact = dh.clone()
scale(dhpreact, 1 - h**2)
# answer: ex1-batchnorm-scale
dbngain = torch.zeros_like(bngain)
accumulate(dbngain, (bnraw * dhpreact).sum(0, keepdim=True))
dbnbias = torch.zeros_like(bnbias)
accumulate(dbnbias, dhpreact.sum(0, keepdim=True))
dbnraw = dhpreact.clone()
scale(dbnraw, bngain)
# answer: ex1-batchnorm-variance
dbnvar_inv = torch.zeros_like(bnvar_inv)
accumulate(dbnvar_inv, (bndiff * dbnraw).sum(0, keepdim=True))
dbnvar = dbnvar_inv.clone()
scale(dbnvar, -0.5 * bnvar_inv**3)
dbndiff2 = torch.zeros_like(bndiff2)
accumulate(dbndiff2, dbnvar)
scale(dbndiff2, 1 / (n - 1))
# answer: ex1-batchnorm-mean
dbndiff = torch.zeros_like(bndiff)
accumulate(dbndiff, bnvar_inv * dbnraw)
accumulate(dbndiff, 2 * bndiff * dbndiff2)
dbnmeani = torch.zeros_like(bnmeani)
accumulate(dbnmeani, -dbndiff.sum(0, keepdim=True))
dhprebn = torch.zeros_like(hprebn)
accumulate(dhprebn, dbndiff)
accumulate(dhprebn, dbnmeani / n)
# answer: ex1-linear1
dembcat, dW1, db1 = (torch.zeros_like(t) for t in (embcat, W1, b1))
accumulate(dembcat, dhprebn @ W1.T)
accumulate(dW1, embcat.T @ dhprebn)
accumulate(db1, dhprebn.sum(0))
# answer: ex1-embedding
demb = torch.zeros_like(emb)
accumulate(demb, dembcat.view(emb.shape))
dC = torch.zeros_like(C)
pour_rows(dC, Xb.view(-1), demb.view(-1, n_embd))
