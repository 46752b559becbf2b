"""The teaching figures of the notebooks."""

from grader.pictures.figures.batchnorm import (
    all_columns_at_once,
    batchnorm_arrows,
    batchnorm_graph,
)
from grader.pictures.figures.routing import (
    broadcast_and_sum,
    lookups_and_repeats,
    max_is_a_router,
    picked_entries,
    sum_is_a_router,
    view_is_a_relabelling,
)
from grader.pictures.figures.rules import chords, forks, one_step, which_product
from grader.pictures.figures.sheet import Picture, use_course_style
from grader.pictures.figures.softmax import (
    eight_lines_become_one,
    pull_and_push,
    softmax_ignores_a_shift,
    softmax_slopes,
)
from grader.pictures.figures.training import race_chart

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
