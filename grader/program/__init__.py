"""A forward pass as a list of steps, its instances, and autograd's gradients of it."""
