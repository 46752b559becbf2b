"""The teaching figures of the notebooks."""

from grader.figures.batchnorm import batchnorm_graph
from grader.figures.differences import chords
from grader.figures.lookup import lookups_and_repeats, view_is_a_relabelling
from grader.figures.normalisation import all_columns_at_once, batchnorm_arrows
from grader.figures.product import which_product
from grader.figures.race_chart import race_chart
from grader.figures.routing import (
    broadcast_and_sum,
    max_is_a_router,
    picked_entries,
    sum_is_a_router,
)
from grader.figures.rules import forks, one_step
from grader.figures.shift import softmax_ignores_a_shift
from grader.figures.softmax import eight_lines_become_one, pull_and_push, softmax_slopes
from grader.figures.style import Picture, use_course_style

__all__ = [
    "Picture",
    "all_columns_at_once",
    "batchnorm_arrows",
    "batchnorm_graph",
    "broadcast_and_sum",
    "chords",
    "eight_lines_become_one",
    "forks",
    "lookups_and_repeats",
    "max_is_a_router",
    "one_step",
    "picked_entries",
    "pull_and_push",
    "race_chart",
    "softmax_ignores_a_shift",
    "softmax_slopes",
    "sum_is_a_router",
    "use_course_style",
    "view_is_a_relabelling",
    "which_product",
]
