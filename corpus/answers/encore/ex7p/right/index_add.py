# Places are added to, as in notebook 04.

# answer: ex7p-last
dguesses = F.softmax(guesses, 1)
dguesses = dguesses - (torch.arange(V) == targets[:, None]).to(dguesses.dtype)
dguesses = dguesses / targets.numel()
dW_last = (dguesses.T @ heard).T
dheard = dguesses @ W_last.T
dout = torch.zeros_like(out).flatten(0, 1).index_add(0, at, dheard).view_as(out)
dspread = (pattern.transpose(1, 2) @ dout).reshape(spread.shape)
dv = dspread.index_select(0, at)
dWv = (dv.T @ rows).T
drows = dv @ Wv.T
dx = torch.zeros_like(x).flatten(0, 1).index_add(0, at, drows).view_as(x)
