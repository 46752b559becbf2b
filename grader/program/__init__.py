"""A forward pass as steps, its instances, and what autograd says of it."""
