# Position by position.

# answer: ex6e-tables
dletters, dplaces = torch.zeros_like(letters), torch.zeros_like(places)
for b in range(B):
    for t in range(T):
        dletters[Xb[b, t]] += dx[b, t]
for b in range(B):
    dplaces += dx[b]
