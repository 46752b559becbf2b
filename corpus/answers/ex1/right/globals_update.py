# Results collected in a dictionary of the student's own and poured into the notebook by globals().update.
# answer: ex1-loss
d = {}
d["dlogprobs"] = torch.zeros_like(logprobs)
d["dlogprobs"][range(n), Yb] = -1 / n
d["dprobs"] = d["dlogprobs"] / probs
d["dcounts_sum_inv"] = (counts * d["dprobs"]).sum(1, keepdim=True)
d["dcounts_sum"] = -d["dcounts_sum_inv"] / counts_sum**2
d["dcounts"] = counts_sum_inv * d["dprobs"] + d["dcounts_sum"]
d["dnorm_logits"] = counts * d["dcounts"]
d["dlogit_maxes"] = -d["dnorm_logits"].sum(1, keepdim=True)
d["dlogits"] = d["dnorm_logits"] + F.one_hot(logits.argmax(1), vocab_size) * d["dlogit_maxes"]
d["dh"], d["dW2"], d["db2"] = d["dlogits"] @ W2.T, h.T @ d["dlogits"], d["dlogits"].sum(0)
d["dhpreact"] = (1 - h**2) * d["dh"]
d["dbngain"] = (bnraw * d["dhpreact"]).sum(0, keepdim=True)
d["dbnbias"] = d["dhpreact"].sum(0, keepdim=True)
d["dbnraw"] = bngain * d["dhpreact"]
d["dbnvar_inv"] = (bndiff * d["dbnraw"]).sum(0, keepdim=True)
d["dbnvar"] = -0.5 * (bnvar + 1e-5) ** -1.5 * d["dbnvar_inv"]
d["dbndiff2"] = d["dbnvar"].expand(n, n_hidden) / (n - 1)
d["dbndiff"] = bnvar_inv * d["dbnraw"] + 2 * bndiff * d["dbndiff2"]
d["dbnmeani"] = -d["dbndiff"].sum(0, keepdim=True)
d["dhprebn"] = d["dbndiff"] + d["dbnmeani"] / n
d["dembcat"], d["dW1"], d["db1"] = d["dhprebn"] @ W1.T, embcat.T @ d["dhprebn"], d["dhprebn"].sum(0)
d["demb"] = d["dembcat"].view(emb.shape)
d["dC"] = torch.zeros_like(C).index_add(0, Xb.view(-1), d["demb"].view(-1, n_embd))
globals().update(d)
