# Explicit loops over everything, number by number, on nested Python lists.
# answer: ex1-loss
def filled(rows, columns):
    return [[0.0] * columns for _ in range(rows)]

def product(a, b):
    out = filled(len(a), len(b[0]))
    for i in range(len(a)):
        for k in range(len(b)):
            left = a[i][k]
            for j in range(len(b[0])):
                out[i][j] += left * b[k][j]
    return out

def flipped(a):
    return [[a[i][j] for i in range(len(a))] for j in range(len(a[0]))]

out = filled(n, vocab_size)
for i in range(n):
    out[i][Yb[i].item()] -= 1 / n
dlogprobs = torch.tensor(out)
# answer: ex1-softmax
p, g = probs.tolist(), dlogprobs.tolist()
dprobs_list = filled(n, vocab_size)
for i in range(n):
    for j in range(vocab_size):
        dprobs_list[i][j] = g[i][j] / p[i][j]
dprobs = torch.tensor(dprobs_list)
c, g = counts.tolist(), dprobs.tolist()
inverse_list = filled(n, 1)
for i in range(n):
    for j in range(vocab_size):
        inverse_list[i][0] += c[i][j] * g[i][j]
dcounts_sum_inv = torch.tensor(inverse_list)
sums, g1 = counts_sum.tolist(), dcounts_sum_inv.tolist()
dcounts_sum = torch.tensor([[-g1[i][0] / sums[i][0] ** 2] for i in range(n)])
inverses, g2 = counts_sum_inv.tolist(), dcounts_sum.tolist()
counts_list = filled(n, vocab_size)
for i in range(n):
    for j in range(vocab_size):
        counts_list[i][j] += inverses[i][0] * g[i][j]
        counts_list[i][j] += g2[i][0]
dcounts = torch.tensor(counts_list)
# answer: ex1-max
c, g = counts.tolist(), dcounts.tolist()
norm_list = filled(n, vocab_size)
for i in range(n):
    for j in range(vocab_size):
        norm_list[i][j] = c[i][j] * g[i][j]
dnorm_logits = torch.tensor(norm_list)
maxes_list = filled(n, 1)
for i, row in enumerate(dnorm_logits.tolist()):
    for value in row:
        maxes_list[i][0] -= value
dlogit_maxes = torch.tensor(maxes_list)
logits_list, scores, extra = dnorm_logits.tolist(), logits.tolist(), dlogit_maxes.tolist()
for i in range(n):
    best = 0
    for j in range(vocab_size):
        if scores[i][j] > scores[i][best]:
            best = j
    logits_list[i][best] += extra[i][0]
dlogits = torch.tensor(logits_list)
# answer: ex1-linear2
dh = torch.tensor(product(dlogits.tolist(), flipped(W2.tolist())))
dW2 = torch.tensor(product(flipped(h.tolist()), dlogits.tolist()))
b2_list = [0.0] * vocab_size
for row in dlogits.tolist():
    for j, value in enumerate(row):
        b2_list[j] += value
db2 = torch.tensor(b2_list)
# answer: ex1-tanh
t, g = h.tolist(), dh.tolist()
preact_list = filled(n, n_hidden)
for i in range(n):
    for j in range(n_hidden):
        preact_list[i][j] = g[i][j] * (1 - t[i][j] * t[i][j])
dhpreact = torch.tensor(preact_list)
# answer: ex1-batchnorm-scale
g, raw, gain = dhpreact.tolist(), bnraw.tolist(), bngain.tolist()
gain_list, bias_list, raw_list = filled(1, n_hidden), filled(1, n_hidden), filled(n, n_hidden)
for i in range(n):
    for j in range(n_hidden):
        gain_list[0][j] += raw[i][j] * g[i][j]
        bias_list[0][j] += g[i][j]
        raw_list[i][j] = gain[0][j] * g[i][j]
dbngain = torch.tensor(gain_list)
dbnbias = torch.tensor(bias_list)
dbnraw = torch.tensor(raw_list)
# answer: ex1-batchnorm-variance
g, diff = dbnraw.tolist(), bndiff.tolist()
varinv_list = filled(1, n_hidden)
for j in range(n_hidden):
    for i in range(n):
        varinv_list[0][j] += diff[i][j] * g[i][j]
dbnvar_inv = torch.tensor(varinv_list)
var, up = bnvar.tolist(), dbnvar_inv.tolist()
var_list = filled(1, n_hidden)
for j in range(n_hidden):
    var_list[0][j] = up[0][j] * -0.5 * (var[0][j] + 1e-5) ** -1.5
dbnvar = torch.tensor(var_list)
up = dbnvar.tolist()
diff2_list = filled(n, n_hidden)
for i in range(n):
    for j in range(n_hidden):
        diff2_list[i][j] = up[0][j] / (n - 1)
dbndiff2 = torch.tensor(diff2_list)
# answer: ex1-batchnorm-mean
g2, std_inv = dbndiff2.tolist(), bnvar_inv.tolist()
diff_list = filled(n, n_hidden)
for i in range(n):
    for j in range(n_hidden):
        diff_list[i][j] = std_inv[0][j] * g[i][j] + 2 * diff[i][j] * g2[i][j]
dbndiff = torch.tensor(diff_list)
g = dbndiff.tolist()
mean_list = filled(1, n_hidden)
for i in range(n):
    for j in range(n_hidden):
        mean_list[0][j] -= g[i][j]
dbnmeani = torch.tensor(mean_list)
up = dbnmeani.tolist()
hprebn_list = filled(n, n_hidden)
for i in range(n):
    for j in range(n_hidden):
        hprebn_list[i][j] = g[i][j] + up[0][j] / n
dhprebn = torch.tensor(hprebn_list)
# answer: ex1-linear1
dembcat = torch.tensor(product(dhprebn.tolist(), flipped(W1.tolist())))
dW1 = torch.tensor(product(flipped(embcat.tolist()), dhprebn.tolist()))
b1_list = [0.0] * n_hidden
for row in dhprebn.tolist():
    for j in range(n_hidden):
        b1_list[j] += row[j]
db1 = torch.tensor(b1_list)
# answer: ex1-embedding
flat = dembcat.tolist()
emb_list = [filled(block_size, n_embd) for _ in range(n)]
for i in range(n):
    for b in range(block_size):
        for e in range(n_embd):
            emb_list[i][b][e] = flat[i][b * n_embd + e]
demb = torch.tensor(emb_list)
g, characters = demb.tolist(), Xb.tolist()
table = filled(vocab_size, n_embd)
for i in range(n):
    for b in range(block_size):
        for e in range(n_embd):
            table[characters[i][b]][e] += g[i][b][e]
dC = torch.tensor(table)
