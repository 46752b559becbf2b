"""Hand in every strange kind of tensor: sparse, meta, quantised, nested, complex, of bits.

must not: crash the worker or the judge
flag: none
naive: none, since none is right
"""

dlogprobs = torch.sparse_coo_tensor(torch.tensor([[0], [0]]), torch.tensor([1.0]), logits.shape)
dprobs = torch.empty(logits.shape, device="meta")
dcounts = torch.quantize_per_tensor(torch.zeros(logits.shape, dtype=torch.float), 0.1, 0, torch.qint8) if torch.float is torch.float32 else 1
dnorm_logits = torch.zeros(logits.shape, dtype=torch.complex128)
dlogits = torch.zeros(logits.shape, dtype=torch.float8_e4m3fn)
dh = torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)])
dW2 = torch.zeros(W2.shape).to_sparse_csr()
db2 = torch.zeros(b2.shape).conj()
dhpreact = torch._neg_view(torch.zeros(h.shape))
dC = torch.sparse_coo_tensor(torch.tensor([[0], [0]]), torch.tensor([1.0]), (2**31, 2**31))
