"""The grader of the course: a student's gradients beside autograd's."""

import lazy_loader

# The names stand in __init__.pyi. Lazy, because a command line that only has to start a worker
# should not wait for torch to be imported first.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
