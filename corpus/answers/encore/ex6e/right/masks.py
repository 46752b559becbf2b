# One letter after the other: wherever it stands.

# answer: ex6e-tables
dletters = torch.zeros_like(letters)
for letter in range(vocab_size):
    dletters[letter] = dx[Xb == letter].sum(0)
dplaces = dx.mean(0) * B
