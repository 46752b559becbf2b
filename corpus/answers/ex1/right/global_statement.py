# Functions without arguments or results that write the gradients through global statements.
# answer: ex1-loss
def loss_group():
    global dlogprobs
    dlogprobs = torch.zeros_like(logprobs)
    dlogprobs[range(n), Yb] = -1 / n

loss_group()
# answer: ex1-softmax
def softmax_group():
    global dprobs, dcounts_sum_inv, dcounts_sum, dcounts
    dprobs = dlogprobs / probs
    dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
    dcounts_sum = -dcounts_sum_inv / counts_sum**2
    dcounts = counts_sum_inv * dprobs + dcounts_sum

softmax_group()
# answer: ex1-max
def max_group():
    global dnorm_logits, dlogit_maxes, dlogits
    dnorm_logits = counts * dcounts
    dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
    dlogits = dnorm_logits.clone()
    dlogits[range(n), logits.argmax(1)] += dlogit_maxes.view(n)

max_group()
# answer: ex1-linear2
def linear2_group():
    global dh, dW2, db2
    dh = dlogits @ W2.T
    dW2 = h.T @ dlogits
    db2 = dlogits.sum(0)

linear2_group()
# answer: ex1-tanh
def tanh_group():
    global dhpreact
    dhpreact = (1 - h**2) * dh

tanh_group()
# answer: ex1-batchnorm-scale
def batchnorm_group():
    global dbngain, dbnbias, dbnraw, dbnvar_inv, dbnvar, dbndiff2, dbndiff, dbnmeani, dhprebn
    dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
    dbnbias = dhpreact.sum(0, keepdim=True)
    dbnraw = bngain * dhpreact
    dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
    dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
    dbndiff2 = dbnvar.expand_as(bndiff2) / (n - 1)
    dbndiff = bnvar_inv * dbnraw + 2 * bndiff * dbndiff2
    dbnmeani = -dbndiff.sum(0, keepdim=True)
    dhprebn = dbndiff + dbnmeani / n

batchnorm_group()
# answer: ex1-linear1
def linear1_group():
    global dembcat, dW1, db1
    dembcat, dW1, db1 = dhprebn @ W1.T, embcat.T @ dhprebn, dhprebn.sum(0)

linear1_group()
# answer: ex1-embedding
def embedding_group():
    global demb, dC
    demb = dembcat.view(emb.shape)
    dC = torch.zeros_like(C)
    for k in range(n):
        for j in range(block_size):
            dC[Xb[k, j]] += demb[k, j]

embedding_group()
