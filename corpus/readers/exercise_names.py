"""What each exercise calls its gradients, tensors and sizes, written out a second time."""

from __future__ import annotations

from collections.abc import Mapping

from corpus.readers.exercise_text import GRADIENTS
from corpus.readers.mutation_site import Names, shapes

SIZES = {"n": 32, "vocab_size": 27, "n_embd": 10, "n_hidden": 64, "block_size": 3}
FUSED = {"n": 32, "vocab_size": 27}

NAMES: Mapping[str, Names] = {
    "ex1": Names(
        GRADIENTS,
        shapes(
            {
                "n vocab_size": "logprobs probs counts norm_logits logits",
                "n 1": "counts_sum_inv counts_sum logit_maxes",
                "n n_hidden": "h hpreact bnraw bndiff2 bndiff hprebn",
                "1 n_hidden": "bngain bnbias bnvar_inv bnvar bnmeani",
                "vocab_size": "b2",
                "n_hidden": "b1",
                "n_hidden vocab_size": "W2",
                "block_size*n_embd n_hidden": "W1",
                "vocab_size n_embd": "C",
                "n block_size*n_embd": "embcat",
                "n block_size n_embd": "emb",
            }
        ),
        SIZES,
    ),
    "ex2": Names(("dlogits",), shapes({"n vocab_size": "logits"}), FUSED),
    "ex2s": Names(("dz",), shapes({"n vocab_size": "z"}), FUSED),
    "ex3": Names(
        ("dbngain", "dbnbias", "dxhat", "dvar", "dmu", "dhprebn"),
        shapes({"n n_hidden": "hprebn xhat hpreact", "1 n_hidden": "bngain bnbias var mu"}),
        {"n": 32, "n_hidden": 64},
    ),
    "ex4": Names(
        (
            *("dlogits", "dh", "dW2", "db2", "dhpreact", "dbngain", "dbnbias", "dhprebn"),
            *("dembcat", "dW1", "db1", "demb", "dC"),
        ),
        shapes(
            {
                "n vocab_size": "logits",
                "n n_hidden": "h hpreact bnraw hprebn",
                "1 n_hidden": "bngain bnbias bnvar_inv bnvar bnmean",
                "vocab_size": "b2",
                "n_hidden": "b1",
                "n_hidden vocab_size": "W2",
                "block_size*n_embd n_hidden": "W1",
                "vocab_size n_embd": "C",
                "n block_size*n_embd": "embcat",
                "n block_size n_embd": "emb",
            }
        ),
        SIZES | {"n_hidden": 200},
    ),
}
"""The names of an exercise, by the prefix of its answer cells."""
