# The softmax minus the smoothed targets, in one expression.

# answer: ex2s-smoothing
dz = (
    F.softmax(z, 1)
    - (1 - smoothing) * F.one_hot(Yb, num_classes=vocab_size)
    - smoothing / vocab_size
) / n
