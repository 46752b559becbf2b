from .contestants import contestants
from .forward import atomic, fused_forward
from .inference import calibrate, logits_with, mean_loss, sample_names
from .interruption import stop_button
from .loops import autograd_loop, manual_loop
from .name_list import UnusableNames
from .names import load_names
from .parameters import LECTURE_SEED, Parameters, init_parameters
from .race import LIMIT, race, race_table
from .training import ALL_STEPS, Run, begin_run, train
from .vocabulary import build_vocabulary
from .windows import Splits, Windows, build_splits, build_windows, split_names

__all__ = [
    "ALL_STEPS",
    "LECTURE_SEED",
    "LIMIT",
    "Parameters",
    "Run",
    "Splits",
    "UnusableNames",
    "Windows",
    "atomic",
    "autograd_loop",
    "begin_run",
    "build_splits",
    "build_vocabulary",
    "build_windows",
    "calibrate",
    "contestants",
    "fused_forward",
    "init_parameters",
    "load_names",
    "logits_with",
    "manual_loop",
    "mean_loss",
    "race",
    "race_table",
    "sample_names",
    "split_names",
    "stop_button",
    "train",
]
