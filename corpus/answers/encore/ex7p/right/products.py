# To pick is a product with one-hot rows, and to place with these turned over.

# answer: ex7p-last
picker = F.one_hot(at, B * T).to(x.dtype)
dguesses = (F.softmax(guesses, 1) - F.one_hot(targets, V)) / n_rows
dW_last = heard.T @ dguesses
dheard = dguesses @ W_last.T
dout = (picker.T @ dheard).view(B, T, H)
dspread = (pattern.mT @ dout).flatten(0, 1)
dv = picker @ dspread
dWv = rows.T @ dv
drows = dv @ Wv.T
dx = (picker.T @ drows).view(B, T, C)
