# A function for each kind of step, called where the step is.


# answer: ex5-sum
def through_product(arriving, left, right):
    """What a product of two batches of matrices passes back to each of them."""
    return arriving @ right.transpose(-2, -1), left.transpose(-2, -1) @ arriving


dpattern, dv = through_product(dout, pattern, v)


# answer: ex5-softmax
def through_quotient(arriving, part, total):
    """Back to a sum of parts, by which each part was divided."""
    inverse = (arriving * part).sum(-1, keepdim=True)
    return inverse, -inverse / total.square()


dcounts_sum_inv, dcounts_sum = through_quotient(dpattern, counts, counts_sum)
dcounts = dpattern / counts_sum + dcounts_sum
dshifted = dcounts * shifted.exp()

# answer: ex5-max
dmaxes = dshifted.sum(-1, keepdim=True).neg()
positions = torch.arange(T)
dmasked = dshifted + torch.where(positions == masked.argmax(-1, keepdim=True), dmaxes, 0.0)

# answer: ex5-mask
dscores = dmasked.tril()

# answer: ex5-scale
dproducts = dscores.div(H**0.5)

# answer: ex5-products
dq, dk = through_product(dproducts, q, k.mT)
dk = dk.mT


# answer: ex5-linear
def through_linear(arriving, weights):
    """Back to the weights, and to what they were multiplied with."""
    return x.reshape(-1, C).T @ arriving.reshape(-1, H), arriving @ weights.T


dWq, asked = through_linear(dq, Wq)
dWk, offered = through_linear(dk, Wk)
dWv, answered = through_linear(dv, Wv)
dx = asked + offered + answered
