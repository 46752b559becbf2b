# Every product as an einsum, whose letters say what is added up.

# answer: ex6p-down
dbent = torch.einsum("btc,mc->btm", dmoved, W_down)
dW_down = torch.einsum("btm,btc->mc", bent, dmoved)
db_down = torch.einsum("btc->c", dmoved)

# answer: ex6p-gelu
dcdf = wide * dbent
dwide = cdf * dbent + (2 * torch.pi) ** -0.5 * torch.exp(-0.5 * wide**2) * dcdf

# answer: ex6p-up
dW_up = torch.einsum("btc,btm->cm", u, dwide)
db_up = torch.einsum("btm->m", dwide)
du = torch.einsum("btm,cm->btc", dwide, W_up) + dmoved
