# One name after the other; weights and biases collect.

# answer: ex6p-down
dbent = torch.zeros_like(bent)
dW_down, db_down = torch.zeros_like(W_down), torch.zeros_like(b_down)
for b in range(B):
    dbent[b] = dmoved[b] @ W_down.T
    dW_down += bent[b].T @ dmoved[b]
    db_down += dmoved[b].sum(0)

# answer: ex6p-gelu
dcdf, dwide = torch.zeros_like(cdf), torch.zeros_like(wide)
for b in range(B):
    dcdf[b] = dbent[b] * wide[b]
for b in range(B):
    density = torch.exp(-(wide[b] ** 2) / 2) / (2 * torch.pi) ** 0.5
    dwide[b] = dbent[b] * cdf[b] + dcdf[b] * density

# answer: ex6p-up
dW_up, db_up, du = torch.zeros_like(W_up), torch.zeros_like(b_up), torch.zeros_like(u)
for b in range(B):
    dW_up += u[b].T @ dwide[b]
    db_up += dwide[b].sum(0)
    du[b] = dmoved[b] + dwide[b] @ W_up.T
