# Two functions, one that places and one for a linear layer.


# answer: ex7p-last
def place(rows_of_it, like):
    flat = torch.zeros_like(like).flatten(0, 1)
    flat[at] = rows_of_it
    return flat.view_as(like)


def linear_backward(down, inputs, weights):
    return down @ weights.T, inputs.T @ down


dguesses = F.softmax(guesses, 1)
dguesses = dguesses.scatter_add(1, targets[:, None], -dguesses.new_ones(len(at), 1)) / len(at)
dheard, dW_last = linear_backward(dguesses, heard, W_last)
dout = place(dheard, out)
dspread = (pattern.mT @ dout).flatten(0, 1)
dv = dspread[at]
drows, dWv = linear_backward(dv, rows, Wv)
dx = place(drows, x)
