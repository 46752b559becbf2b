from .forward import atomic, fused_forward
from .name_list import UnusableNames
from .names import load_names
from .parameters import LECTURE_SEED, Parameters, init_parameters
from .vocabulary import build_vocabulary
from .windows import Splits, Windows, build_splits, build_windows, split_names

__all__ = [
    "LECTURE_SEED",
    "Parameters",
    "Splits",
    "UnusableNames",
    "Windows",
    "atomic",
    "build_splits",
    "build_vocabulary",
    "build_windows",
    "fused_forward",
    "init_parameters",
    "load_names",
    "split_names",
]
