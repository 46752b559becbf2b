# Unicode names as on paper, long expressions broken by brackets and backslashes, and underscores in numbers.
# answer: ex1-loss
δ = F.one_hot(
    Yb,
    num_classes=vocab_size,
)
ε = 0.000_01
dlogprobs = \
    -δ / \
    n
# answer: ex1-softmax
p, Σ, c = probs, counts_sum, counts
dprobs = (
    dlogprobs
    /
    p
)
dcounts_sum_inv = (
    (c * dprobs)
    .sum(1, keepdim=True)
)
dcounts_sum = (
    -dcounts_sum_inv  # the inverse
    / Σ ** 2          # squared
)
dcounts = (
    dprobs / Σ
    + dcounts_sum
)
# answer: ex1-max
dnorm_logits = c * dcounts
dlogit_maxes = -(
    dnorm_logits
    .sum(1)
    .unsqueeze(1)
)
δmax = F.one_hot(logits.argmax(1), vocab_size)
dlogits = dnorm_logits + \
    δmax * dlogit_maxes
# answer: ex1-linear2
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
# answer: ex1-tanh
σ̇ = 1 - h ** 2
dhpreact = σ̇ * dh
# answer: ex1-batchnorm-scale
x̂, γ, σ2 = bnraw, bngain, bnvar
dγ = (x̂ * dhpreact).sum(0, keepdim=True)
dβ = dhpreact.sum(0, keepdim=True)
dbngain = dγ
dbnbias = dβ
dbnraw = γ * dhpreact
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dσ2 = -1 / 2 * (σ2 + ε) ** (-3 / 2) * dbnvar_inv
dbnvar = dσ2
dbndiff2 = torch.ones_like(bndiff2) * dσ2 / (n - 1)
# answer: ex1-batchnorm-mean
dbndiff = (
    bnvar_inv * dbnraw
    + 2 * bndiff * dbndiff2
)
dμ = -dbndiff.sum(0, keepdim=True)
dbnmeani = dμ
dhprebn = dbndiff + dμ / n
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
# answer: ex1-embedding
demb = dembcat.view(
    n,
    block_size,
    n_embd,
)
dC = torch.zeros_like(C)
for α, β in zip(
    Xb.view(-1), demb.view(-1, n_embd),
):
    dC[α] += β
