from .batchnorm import (
    all_columns_at_once,
    batchnorm_graph,
    lowest_at_the_mean,
    output_afterwards,
    slopes_of_a_column,
    two_directions_removed,
)
from .leaks import beliefs, firing, lengths, squashing, two_losses
from .measured import (
    boosts,
    gates,
    rows_of_the_table,
    variance_estimates,
    which_gradient,
)
from .moving import batchnorm_in_stages, gradient_runs_back
from .routing import (
    broadcast_and_sum,
    lookups_and_repeats,
    max_is_a_router,
    picked_entries,
    sum_is_a_router,
)
from .rules import chords, forks, one_step, which_product
from .sheet import Picture, use_course_style
from .sliders import batch_noise, logit_forces, step_delta
from .softmax import (
    ahead_of_the_others,
    batch_of_gradients,
    eight_lines_become_one,
    one_row,
    pulled_and_pushed,
    softmax_ignores_a_shift,
    softmax_slopes,
    temperatures,
    times_as_long,
)
from .training import letter_maps, race_chart, training_loop
from .whole_network import difference, network, which_view

__all__ = [
    "Picture",
    "ahead_of_the_others",
    "all_columns_at_once",
    "batch_noise",
    "batch_of_gradients",
    "batchnorm_graph",
    "batchnorm_in_stages",
    "beliefs",
    "boosts",
    "broadcast_and_sum",
    "chords",
    "difference",
    "eight_lines_become_one",
    "firing",
    "forks",
    "gates",
    "gradient_runs_back",
    "lengths",
    "letter_maps",
    "logit_forces",
    "lookups_and_repeats",
    "lowest_at_the_mean",
    "max_is_a_router",
    "network",
    "one_row",
    "one_step",
    "output_afterwards",
    "picked_entries",
    "pulled_and_pushed",
    "race_chart",
    "rows_of_the_table",
    "slopes_of_a_column",
    "softmax_ignores_a_shift",
    "softmax_slopes",
    "squashing",
    "step_delta",
    "sum_is_a_router",
    "temperatures",
    "times_as_long",
    "training_loop",
    "two_directions_removed",
    "two_losses",
    "use_course_style",
    "variance_estimates",
    "which_gradient",
    "which_product",
    "which_view",
]
