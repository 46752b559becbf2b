"""The stored results of the whole run, and the table of names."""

from __future__ import annotations

import torch

from makemore_data import names_table, whole_run


def test_the_stored_run_is_that_of_the_documentation() -> None:
    stored = whole_run()
    assert (stored.training_loss, stored.validation_loss) == (2.0701, 2.1082)
    assert len(stored.names) == 20
    assert stored.C.shape == (27, 10)
    assert stored.middle.shape == (27, 10)
    assert torch.isfinite(stored.C).all()


def test_in_the_middle_the_vowels_are_on_the_left_and_y_is_beside_them() -> None:
    across = whole_run().middle[:, 0]
    assert {chr(96 + index) for index in across.argsort()[:5].tolist()} == set("aeiou")
    assert chr(96 + int(across.argsort()[5])) == "y"


def test_names_that_are_known_are_in_italics_and_the_others_are_counted() -> None:
    table = names_table({"0 steps": ["q" * 40, "ann"], "all": ["bea", "annx"]}, ["ann", "bea"])
    assert table.splitlines() == [
        '<div style="overflow-x: auto">',
        "",
        "| 0 steps | all |",
        "| :-- | :-- |",
        f"| {'q' * 13}\N{HORIZONTAL ELLIPSIS} | *bea* |",
        "| *ann* | annx |",
        "| **1 of 2 new** | **1 of 2 new** |",
        "",
        "</div>",
    ]
