# scatter_add_ with an index as wide as the rows.

# answer: ex6e-tables
rows = Xb.reshape(-1, 1).expand(-1, C)
dletters = torch.zeros_like(letters).scatter_add_(0, rows, dx.reshape(-1, C))
dplaces = torch.zeros_like(places)
for one in dx:
    dplaces += one
