"""Call the operator that is autograd's own derivative of an embedding.

must not: have it answer
flag: autograd
naive: none, since it needs demb, which nobody has written
"""

dC = torch.ops.aten.embedding_dense_backward(demb, Xb, vocab_size, -1, False)
