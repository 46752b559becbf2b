# Built in place: clone, add_, mul_.

# answer: ex6p-down
dbent = torch.zeros_like(bent)
dbent += dmoved @ W_down.T
dW_down = torch.zeros_like(W_down)
dW_down += bent.flatten(0, 1).T @ dmoved.flatten(0, 1)
db_down = torch.zeros_like(b_down)
db_down += dmoved.sum((0, 1))

# answer: ex6p-gelu
dcdf = dbent.clone()
dcdf *= wide
dwide = dbent.clone()
dwide *= cdf
dwide += dcdf * (-0.5 * wide**2).exp() / (2 * torch.pi) ** 0.5

# answer: ex6p-up
dW_up = torch.zeros_like(W_up)
dW_up += u.flatten(0, 1).T @ dwide.flatten(0, 1)
db_up = torch.zeros_like(b_up)
db_up += dwide.sum((0, 1))
du = dmoved.clone()
du += dwide @ W_up.T
