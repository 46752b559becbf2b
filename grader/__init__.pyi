from .compare import cmp
from .lesson import board, check, heat_map, hint
from .loss_plot import LossPlot
from .training_lesson import check_training, my_backward, show_code

__all__ = [
    "LossPlot",
    "board",
    "check",
    "check_training",
    "cmp",
    "heat_map",
    "hint",
    "my_backward",
    "show_code",
]
