"""The network: its parameters, its forward passes, and what it says once it is trained."""
