# The word grad in comments, strings, f-strings and the student's own names; autograd itself is not used.
# answer: ex1-loss
# loss.backward() would fill logprobs.grad; here I compute my_grad by hand
# torch.autograd.grad(loss, logprobs) is what I am not allowed to call
my_grad = torch.zeros_like(logprobs)
my_grad[range(n), Yb] = -1 / n
dlogprobs = my_grad
print(f"grad of logprobs has shape {tuple(dlogprobs.shape)} (compare with logprobs.grad)")
# answer: ex1-softmax
grads = {"probs.grad": dlogprobs / probs}
dprobs = grads["probs.grad"]
grad_of_the_inverse = (counts * dprobs).sum(1, keepdim=True)
dcounts_sum_inv = grad_of_the_inverse
grad_fn = lambda s, g: -g / s**2
dcounts_sum = grad_fn(counts_sum, dcounts_sum_inv)
dcounts = counts_sum_inv * dprobs + dcounts_sum
# answer: ex1-max
"""This is what loss.backward() does for the max: the grad goes to the winner."""
def backward(upstream, scores):
    """My own backward; torch.autograd is not involved."""
    return F.one_hot(scores.argmax(1), vocab_size) * upstream

dnorm_logits = counts * dcounts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits + backward(dlogit_maxes, logits)
# answer: ex1-linear2
grad, autograd_says = dlogits, "requires_grad_ and retain_grad are words in a string"
dh = grad @ W2.T
dW2 = h.T @ grad
db2 = grad.sum(0)
# answer: ex1-tanh
gradient_of_tanh = 1 - h**2
dhpreact = gradient_of_tanh * dh
# answer: ex1-batchnorm-scale
grad_in = dhpreact
dbngain = (bnraw * grad_in).sum(0, keepdim=True)
dbnbias = grad_in.sum(0, keepdim=True)
dbnraw = bngain * grad_in
# answer: ex1-batchnorm-variance
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv  # bnvar.grad
with torch.no_grad():
    dbndiff2 = torch.ones_like(bndiff2) / (n - 1) * dbnvar
# answer: ex1-batchnorm-mean
dbndiff = bnvar_inv * dbnraw + 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + dbnmeani / n
# answer: ex1-linear1
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
assert db1.shape == b1.shape, "b1.grad would have the shape of b1"
# answer: ex1-embedding
demb = dembcat.view(emb.shape)
C_grad = torch.zeros_like(C)
for upstream_grad, index in zip(demb.view(-1, n_embd), Xb.view(-1)):
    C_grad[index] += upstream_grad
dC = C_grad
