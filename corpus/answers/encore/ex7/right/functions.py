# A function that returns the last three.


# answer: ex7-loss
def log_softmax_backward(dpicked, logprobs, Yb):
    up = torch.zeros_like(logprobs)
    up.scatter_(2, Yb[..., None], dpicked[..., None])
    sums = -up.sum(2, True)
    return up, sums, up + logprobs.exp() * sums


dkept = (-1 / seen.sum()).expand_as(kept)
dpicked = dkept.mul(seen)
dlogprobs, dlog_sums, dlogits = log_softmax_backward(dpicked, logprobs, Yb)
