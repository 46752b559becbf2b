# A product for each name, added up at the end.

# answer: ex6p-down
dbent = dmoved.matmul(W_down.t())
dW_down = (bent.mT @ dmoved).sum(0)
db_down = dmoved.sum(0).sum(0)

# answer: ex6p-gelu
dcdf = dbent.mul(wide)
slope = cdf + wide * (-(wide**2) / 2).exp() / (2 * torch.pi) ** 0.5
dwide = dbent * slope

# answer: ex6p-up
dW_up = (u.mT @ dwide).sum(0)
db_up = dwide.sum(1).sum(0)
du = dwide.matmul(W_up.t()) + dmoved
