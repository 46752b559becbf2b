# Every product as an einsum; the branches of the residual connection by themselves.

# answer: ex6-perceptron
dactive = torch.einsum("btc,mc->btm", dout, W2)
dW2 = torch.einsum("btm,btc->mc", active, dout)
db2 = torch.einsum("btc->c", dout)
bell = torch.exp(-0.5 * hidden**2) * (2 * torch.pi) ** -0.5
dhidden = (0.5 + 0.5 * torch.erf(hidden / 2**0.5) + hidden * bell) * dactive
dW1 = torch.einsum("btc,btm->cm", normed2, dhidden)
db1 = torch.einsum("btm->m", dhidden)
dnormed2 = torch.einsum("btm,cm->btc", dhidden, W1)
dgain2 = torch.einsum("btc,btc->c", dnormed2, xhat2)
dbias2 = torch.einsum("btc->c", dnormed2)
dxhat2 = torch.einsum("btc,c->btc", dnormed2, gain2)
along2 = torch.einsum("btc,btc->bt", dxhat2, xhat2)[:, :, None] / C
through2 = inv2 * (dxhat2 - dxhat2.mean(2, keepdim=True) - xhat2 * along2)
dmid = dout + through2
dWo = torch.einsum("bth,btc->hc", O, dmid)
dO = torch.einsum("btc,hc->bth", dmid, Wo)
dV = torch.einsum("bts,bth->bsh", P, dO)
dP = torch.einsum("bth,bsh->bts", dO, V)
dS = P * (dP - torch.einsum("bth,bth->bt", dO, O)[:, :, None])
dQ = torch.einsum("bts,bsh->bth", dS, K) / H**0.5
dK = torch.einsum("bts,bth->bsh", dS, Q) / H**0.5
dWq = torch.einsum("btc,bth->ch", normed1, dQ)
dWk = torch.einsum("btc,bth->ch", normed1, dK)
dWv = torch.einsum("btc,bth->ch", normed1, dV)
dnormed1 = sum(torch.einsum("bth,ch->btc", d, W) for d, W in ((dQ, Wq), (dK, Wk), (dV, Wv)))
dgain1 = torch.einsum("btc,btc->c", dnormed1, xhat1)
dbias1 = torch.einsum("btc->c", dnormed1)
dxhat1 = torch.einsum("btc,c->btc", dnormed1, gain1)
along1 = torch.einsum("btc,btc->bt", dxhat1, xhat1)[:, :, None] / C
through1 = inv1 * (dxhat1 - dxhat1.mean(2, keepdim=True) - xhat1 * along1)
dx = dmid + through1
