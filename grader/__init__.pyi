from .explanation.explain import assert_gradients, explain
from .explanation.explanation import Explanation
from .notebook.lesson import board, check, heat_map, hint, points
from .notebook.running_notebook import start_lesson
from .notebook.training_lesson import check_training, line_up, my_backward, show_code
from .pictures import figures
from .pictures.figures.training import LossPlot
from .program.compare import cmp

__all__ = [
    "Explanation",
    "LossPlot",
    "assert_gradients",
    "board",
    "check",
    "check_training",
    "cmp",
    "explain",
    "figures",
    "heat_map",
    "hint",
    "line_up",
    "my_backward",
    "points",
    "show_code",
    "start_lesson",
]
