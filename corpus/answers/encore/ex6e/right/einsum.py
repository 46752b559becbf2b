# An einsum over names and positions, with a cube of ones and zeros.

# answer: ex6e-tables
is_letter = (Xb[:, :, None] == torch.arange(vocab_size)).type_as(dx)
dletters = torch.einsum("btv,btc->vc", is_letter, dx)
dplaces = torch.ones(B, dtype=dx.dtype) @ dx.reshape(B, -1)
dplaces = dplaces.view(T, C)
