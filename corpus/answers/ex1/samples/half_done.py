# A submission in the middle of the work: right as far as it goes, then the blanks.
# answer: ex1-loss
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1.0 / n
# answer: ex1-softmax
dprobs = dlogprobs / probs
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = counts_sum_inv * dprobs
dcounts += dcounts_sum
# answer: ex1-max
dnorm_logits = counts * dcounts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits.clone()
dlogits += F.one_hot(logits.argmax(1), num_classes=vocab_size) * dlogit_maxes
# answer: ex1-linear2
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = ...  # your turn
# answer: ex1-tanh
dhpreact = ...  # your turn
# answer: ex1-batchnorm-scale
dbngain = ...  # your turn
dbnbias = ...  # your turn
dbnraw = ...  # your turn
# answer: ex1-batchnorm-variance
dbnvar_inv = ...  # your turn
dbnvar = ...  # your turn
dbndiff2 = ...  # your turn
# answer: ex1-batchnorm-mean
dbndiff = ...  # your turn
dbnmeani = ...  # your turn
dhprebn = ...  # your turn
# answer: ex1-linear1
dembcat = ...  # your turn
dW1 = ...  # your turn
db1 = ...  # your turn
# answer: ex1-embedding
demb = ...  # your turn
dC = ...  # your turn
