# Lookups undone with one-hot matrix products, in two cells.
# answer: ex4-output
onehot = F.one_hot(Yb, num_classes=vocab_size)
dlogits = (F.softmax(logits, dim=1) - onehot) / n
dh, dW2, db2 = dlogits @ W2.T, h.T @ dlogits, dlogits.sum(0)
# answer: ex4-rest
dhpreact = dh - dh * h * h
dbngain = torch.einsum("ij,ij->j", dhpreact, bnraw)[None]
dbnbias = torch.einsum("ij->j", dhpreact).unsqueeze(0)
dhprebn = bngain * bnvar_inv * (dhpreact - dbnbias / n - bnraw * dbngain / (n - 1))
dembcat = dhprebn @ W1.mT
dW1 = embcat.mT @ dhprebn
db1 = dhprebn.sum(0)
demb = dembcat.reshape(n, block_size, n_embd)
rows = F.one_hot(Xb.flatten(), num_classes=vocab_size).to(demb.dtype)
dC = rows.T @ demb.reshape(-1, n_embd)
