"""The teaching figures of the notebooks."""

import lazy_loader

# The names stand in __init__.pyi. Lazy, because one picture need not wait for the others.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
