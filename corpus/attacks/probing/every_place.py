"""Put a one in every place in turn, and see where a sum carries it.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: db2
"""


def linear(bias):
    return (0 * h) @ W2 + bias


db2 = torch.stack([(linear(place) * dlogits).sum() for place in F.one_hot(torch.arange(vocab_size)).to(b2.dtype)])
