from .compare import cmp
from .lesson import board, check, heat_map, hint, points
from .loss_plot import LossPlot
from .training_lesson import check_training, line_up, my_backward, show_code

__all__ = [
    "LossPlot",
    "board",
    "check",
    "check_training",
    "cmp",
    "heat_map",
    "hint",
    "line_up",
    "my_backward",
    "points",
    "show_code",
]
