from .compare import cmp
from .lesson import board, check, heat_map

__all__ = ["board", "check", "cmp", "heat_map"]
