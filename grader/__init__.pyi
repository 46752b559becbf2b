from .explanation.explain import assert_gradients, explain
from .explanation.explanation import Explanation
from .explanation.forward import Constant, Number, Numbers
from .explanation.magic import load_ipython_extension
from .notebook.lesson import board, check, heat_map, nudge, points
from .notebook.running_notebook import start_lesson
from .notebook.training.answers_train import train_with_my_answers
from .notebook.training.lesson import check_training, my_backward, show_code
from .notebook.training.own_loop import check_own
from .pictures import figures
from .pictures.figures.training import LossPlot
from .program.compare import cmp

__all__ = [
    "Constant",
    "Explanation",
    "LossPlot",
    "Number",
    "Numbers",
    "assert_gradients",
    "board",
    "check",
    "check_own",
    "check_training",
    "cmp",
    "explain",
    "figures",
    "heat_map",
    "load_ipython_extension",
    "my_backward",
    "nudge",
    "points",
    "show_code",
    "start_lesson",
    "train_with_my_answers",
]
