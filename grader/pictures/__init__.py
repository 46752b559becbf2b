"""Everything drawn: the board's layout, error maps, the teaching figures."""

import lazy_loader

# Lazy, because who draws a board need not wait for matplotlib.
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules=["figures"])
