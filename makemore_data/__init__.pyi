from .course.forward import atomic, fused_forward
from .interruption import stop_button
from .model.colleague import colleagues_gradients, judge_fault
from .model.inference import calibrate, logits_with, mean_loss, sample_names
from .model.parameters import LECTURE_SEED, Parameters, init_parameters
from .names.load import load_names
from .names.name_list import UnusableNames
from .names.vocabulary import build_vocabulary
from .names.windows import Splits, Windows, build_splits, build_windows, split_names
from .training.loops import autograd_loop, manual_loop
from .training.train import ALL_STEPS, Run, begin_run, train
from .training.whole_run import WholeRun, names_table, whole_run

__all__ = [
    "ALL_STEPS",
    "LECTURE_SEED",
    "Parameters",
    "Run",
    "Splits",
    "UnusableNames",
    "WholeRun",
    "Windows",
    "atomic",
    "autograd_loop",
    "begin_run",
    "build_splits",
    "build_vocabulary",
    "build_windows",
    "calibrate",
    "colleagues_gradients",
    "fused_forward",
    "init_parameters",
    "judge_fault",
    "load_names",
    "logits_with",
    "manual_loop",
    "mean_loss",
    "names_table",
    "sample_names",
    "split_names",
    "stop_button",
    "train",
    "whole_run",
]
