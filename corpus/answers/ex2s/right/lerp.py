# A helper that mixes the one-hot labels with even ones.


# answer: ex2s-smoothing
def smoothed(labels, classes):
    hard = F.one_hot(labels, classes).to(z.dtype)
    return torch.lerp(hard, torch.full_like(hard, 1 / classes), smoothing)


dz = z.softmax(dim=-1).sub(smoothed(Yb, vocab_size)).div(n)
