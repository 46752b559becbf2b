"""The lecture's data, parameters and forward programs, imported when first used."""

import lazy_loader

# The names stand in __init__.pyi. Lazy, because whoever wants only the names should not wait for
# torch to be imported.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
