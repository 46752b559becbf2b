# One big function per group that returns a dictionary, taken apart by name in each cell.
# answer: ex1-loss
def from_the_loss(n, Yb, logprobs, probs, counts, counts_sum, counts_sum_inv, logits, logit_maxes):
    d = {}
    d["logprobs"] = torch.zeros_like(logprobs)
    d["logprobs"][range(n), Yb] = -1 / n
    d["probs"] = d["logprobs"] / probs
    d["counts_sum_inv"] = (counts * d["probs"]).sum(1, keepdim=True)
    d["counts_sum"] = -d["counts_sum_inv"] / counts_sum**2
    d["counts"] = counts_sum_inv * d["probs"] + d["counts_sum"]
    d["norm_logits"] = counts * d["counts"]
    d["logit_maxes"] = -d["norm_logits"].sum(1, keepdim=True)
    d["logits"] = d["norm_logits"].clone()
    d["logits"][range(n), logits.argmax(1)] += d["logit_maxes"][:, 0]
    return d

grads = from_the_loss(n, Yb, logprobs, probs, counts, counts_sum, counts_sum_inv, logits, logit_maxes)
dlogprobs = grads["logprobs"]
# answer: ex1-softmax
dprobs = grads["probs"]
dcounts_sum_inv, dcounts_sum = grads["counts_sum_inv"], grads["counts_sum"]
dcounts = grads.get("counts")
# answer: ex1-max
dnorm_logits, dlogit_maxes, dlogits = (grads[name] for name in ("norm_logits", "logit_maxes", "logits"))
# answer: ex1-linear2
def linear(x, weight, upstream):
    return {"x": upstream @ weight.T, "weight": x.T @ upstream, "bias": upstream.sum(0)}

grads["linear2"] = linear(x=h, weight=W2, upstream=grads["logits"])
dh, dW2, db2 = grads["linear2"].values()
# answer: ex1-tanh
grads |= {"hpreact": (1 - h**2) * grads["linear2"]["x"]}
dhpreact = grads["hpreact"]
# answer: ex1-batchnorm-scale
def batchnorm(g):
    out = dict(gain=(bnraw * g).sum(0, keepdim=True), bias=g.sum(0, keepdim=True), raw=bngain * g)
    out["var_inv"] = (bndiff * out["raw"]).sum(0, keepdim=True)
    out["var"] = -0.5 * (bnvar + 1e-5) ** -1.5 * out["var_inv"]
    out["diff2"] = out["var"].expand(n, -1) / (n - 1)
    out["diff"] = bnvar_inv * out["raw"] + 2 * bndiff * out["diff2"]
    out["mean"] = -out["diff"].sum(0, keepdim=True)
    out["x"] = out["diff"] + out["mean"] / n
    return out

bn = batchnorm(dhpreact)
dbngain, dbnbias, dbnraw = bn["gain"], bn["bias"], bn["raw"]
# answer: ex1-batchnorm-variance
dbnvar_inv = bn["var_inv"]
dbnvar = bn["var"]
dbndiff2, dbndiff = bn["diff2"], bn["diff"]
# answer: ex1-batchnorm-mean
dbnmeani, dhprebn = bn["mean"], bn["x"]
# answer: ex1-linear1
dembcat, dW1, db1 = linear(embcat, W1, bn["x"]).values()
# answer: ex1-embedding
def lookup(table, index, upstream):
    out = torch.zeros_like(table)
    out.index_put_((index,), upstream, accumulate=True)
    return {"rows": upstream, "table": out}

demb = lookup(C, Xb, dembcat.view(emb.shape))["rows"]
dC = lookup(C, Xb, demb)["table"]
