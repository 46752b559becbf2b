# Every sum as an einsum; no axis is kept, so it has to be put back.

# answer: ex6n-scale
dgain = torch.einsum("btc,btc->c", dy, zhat)
dbias = torch.einsum("btc->c", dy)

# answer: ex6n-normalise
dzhat = torch.einsum("btc,c->btc", dy, gain)
shared = torch.einsum("btc->bt", dzhat)[:, :, None] / C
along = torch.einsum("btc,btc->bt", dzhat, zhat)[:, :, None] / C
dz = (dzhat - shared - zhat * along) / torch.sqrt(var + 1e-5)
