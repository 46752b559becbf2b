# Guards: blocks under torch.no_grad(), try and except, with cell after cell able to run again.
# answer: ex1-loss
with torch.no_grad():
    dlogprobs = torch.zeros_like(logprobs)
    dlogprobs[range(n), Yb] = -1 / n
# answer: ex1-softmax
with torch.no_grad():
    dprobs = dlogprobs / probs
    dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
    dcounts_sum = -dcounts_sum_inv / counts_sum**2
    dcounts = counts_sum_inv * dprobs
    dcounts += dcounts_sum
# answer: ex1-max
@torch.no_grad()
def max_block():
    first = counts * dcounts
    second = -first.sum(1, keepdim=True)
    third = first.scatter_add(1, logits.argmax(1, keepdim=True), second)
    return first, second, third

dnorm_logits, dlogit_maxes, dlogits = max_block()
# answer: ex1-linear2
try:
    dh = dlogits @ W2
except RuntimeError:
    dh = dlogits @ W2.T
try:
    dW2 = h.T @ dlogits
    db2 = dlogits.sum(0)
finally:
    pass
# answer: ex1-tanh
dhpreact = None
try:
    dhpreact = dh * (1 - h**2)
except (RuntimeError, ValueError) as problem:
    print("something is wrong:", problem)
else:
    assert dhpreact is not None
# answer: ex1-batchnorm-scale
with torch.no_grad():
    dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
    dbnbias = dhpreact.sum(0, keepdim=True)
    dbnraw = bngain * dhpreact
    dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
    dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
with torch.no_grad():
    dbndiff2 = dbnvar.expand_as(bndiff2) / (n - 1)
    dbndiff = bnvar_inv * dbnraw
    dbndiff = dbndiff + 2 * bndiff * dbndiff2
    dbnmeani = -dbndiff.sum(0, keepdim=True)
    dhprebn = dbndiff + dbnmeani / n
# answer: ex1-linear1
try:
    dembcat = torch.mm(dhprebn, W1.missing)
except AttributeError:
    dembcat = dhprebn @ W1.T
try:
    dW1 = dhprebn @ embcat
except RuntimeError:
    dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
try:
    demb = dembcat.view(n, block_size, n_embd)
except RuntimeError:
    demb = dembcat.reshape(n, block_size, n_embd)
dC = torch.zeros_like(C)
with torch.no_grad():
    for k in range(n):
        try:
            for j in range(block_size):
                dC[Xb[k, j]] += demb[k, j]
        except IndexError:
            continue
