# Row by row, name by name.

# answer: ex7p-last
dguesses = F.softmax(guesses, 1)
for r in range(len(at)):
    dguesses[r, targets[r]] -= 1
dguesses = dguesses / n_rows
dW_last = torch.zeros_like(W_last)
for r in range(len(at)):
    dW_last += torch.outer(heard[r], dguesses[r])
dheard = torch.stack([W_last @ dguesses[r] for r in range(len(at))])
dout = torch.zeros_like(out)
for r in range(len(at)):
    dout[at[r] // T, at[r] % T] = dheard[r]
dspread = torch.cat([pattern[b].T @ dout[b] for b in range(B)])
dv = torch.stack([dspread[place] for place in at])
dWv = torch.zeros_like(Wv)
for r in range(len(at)):
    dWv += torch.outer(rows[r], dv[r])
drows = torch.stack([Wv @ dv[r] for r in range(len(at))])
dx = torch.zeros_like(x)
for r in range(len(at)):
    dx[at[r] // T, at[r] % T] = drows[r]
