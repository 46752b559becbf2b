# Step by step, as in the notebook.

# answer: ex6p-down
dbent = dmoved @ W_down.T
dW_down = bent.flatten(0, 1).T @ dmoved.flatten(0, 1)
db_down = dmoved.sum((0, 1))

# answer: ex6p-gelu
dcdf = dbent * wide
density = torch.exp(-(wide**2) / 2) / (2 * torch.pi) ** 0.5
dwide = dbent * cdf + dcdf * density

# answer: ex6p-up
dW_up = u.flatten(0, 1).T @ dwide.flatten(0, 1)
db_up = dwide.sum((0, 1))
du = dmoved + dwide @ W_up.T
