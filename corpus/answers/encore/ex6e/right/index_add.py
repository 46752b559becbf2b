# index_add_ along the rows of the table.

# answer: ex6e-tables
dletters = torch.zeros_like(letters)
dletters.index_add_(0, Xb.flatten(), dx.flatten(0, 1))
dplaces = dx.sum(dim=0)
