# One big function that returns all gradients as a tuple, unpacked in a single statement.
# answer: ex1-loss
def backward_pass():
    g_logprobs = torch.zeros_like(logprobs)
    g_logprobs[range(n), Yb] = -1 / n
    g_probs = g_logprobs / probs
    g_inv = (counts * g_probs).sum(1, keepdim=True)
    g_sum = -g_inv / counts_sum**2
    g_counts = counts_sum_inv * g_probs + g_sum
    g_norm = counts * g_counts
    g_maxes = -g_norm.sum(1, keepdim=True)
    g_logits = g_norm.clone()
    g_logits[range(n), logits.argmax(1)] += g_maxes.view(-1)
    g_h = g_logits @ W2.T
    g_pre = (1 - h**2) * g_h
    g_raw = bngain * g_pre
    g_var_inv = (bndiff * g_raw).sum(0, keepdim=True)
    g_var = -0.5 * (bnvar + 1e-5) ** -1.5 * g_var_inv
    g_diff2 = g_var.expand_as(bndiff2) / (n - 1)
    g_diff = bnvar_inv * g_raw + 2 * bndiff * g_diff2
    g_mean = -g_diff.sum(0, keepdim=True)
    g_x = g_diff + g_mean / n
    g_embcat = g_x @ W1.T
    g_emb = g_embcat.view(emb.shape)
    g_C = torch.zeros_like(C)
    g_C.index_add_(0, Xb.view(-1), g_emb.view(-1, n_embd))
    return (
        g_logprobs, g_probs, g_inv, g_sum, g_counts, g_norm, g_maxes, g_logits,
        g_h, h.T @ g_logits, g_logits.sum(0), g_pre,
        (bnraw * g_pre).sum(0, keepdim=True), g_pre.sum(0, keepdim=True),
        g_raw, g_var_inv, g_var, g_diff2, g_diff, g_mean, g_x,
        g_embcat, embcat.T @ g_x, g_x.sum(0), g_emb, g_C,
    )

(dlogprobs, dprobs, dcounts_sum_inv, dcounts_sum, dcounts, dnorm_logits, dlogit_maxes, dlogits,
 dh, dW2, db2, dhpreact, dbngain, dbnbias, dbnraw, dbnvar_inv, dbnvar, dbndiff2, dbndiff,
 dbnmeani, dhprebn, dembcat, dW1, db1, demb, dC) = backward_pass()
