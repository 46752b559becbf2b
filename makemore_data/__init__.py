"""The lecture's data, parameters and forward programs, imported when first used."""

import lazy_loader

# The names stand in __init__.pyi. Lazy, so that loading names does not wait for the import
# of torch.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
