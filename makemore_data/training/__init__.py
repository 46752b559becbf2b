"""Training by hand: the loops, how to stop one, and the race between them."""
