# Loops over examples and characters, the two cases of the derivation side by side.

# answer: ex2-dlogits
p = torch.softmax(logits, dim=1)
dlogits = torch.zeros_like(logits)
for example in range(n):
    for i in range(vocab_size):
        if i == Yb[example]:
            dlogits[example, i] = (p[example, i] - 1) / n
        else:
            dlogits[example, i] = p[example, i] / n
