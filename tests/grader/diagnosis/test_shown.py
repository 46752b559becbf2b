"""What a wrong value has to do with the right one, on values made for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from grader.diagnosis.factors import name_factor
from grader.diagnosis.kinds import Kind
from grader.diagnosis.shown import (
    Explanation,
    Look,
    Wrong,
    misplaced,
    misrouted,
    only_some,
    other_shape,
    same_numbers,
    seen_on_each,
    taken,
    through_steps,
)
from grader.program.forward_program import ForwardProgram
from tests.helpers.written_programs import references_of, write_program

PROGRAM = write_program(
    """
    a = x.tanh()
    b = x * y
    c = a + b
    maxes = c.max(1, keepdim=True).values
    d = c - maxes
    picked = d[range(x.shape[0]), labels]
    rows = table[index]
    loss = picked.sum() + rows.sum()
    """,
    {
        **{"x": "n, m", "y": "n, m", "labels": "n < m"},
        **{"table": "k, m", "index": "n < k"},
    },
)
REFERENCES = references_of(PROGRAM)
HIDDEN = REFERENCES.hidden

Values = Sequence[Tensor]


def seen(look: Look, gradient: str, values: Values, right: Values) -> list[Explanation]:
    """What is seen of a gradient's wrong values on each instance."""
    triples = zip(values, right, HIDDEN, strict=True)
    return list(seen_on_each(look, [Wrong(gradient, *one) for one in triples]))


SHAPES = ((7, 5), (9, 4))


def drawn(*shape: int) -> Tensor:
    return torch.randn(
        shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64
    )


RIGHT = [drawn(*shape) for shape in SHAPES]
ROWS = [drawn(n, 1) for n, _ in SHAPES]


@pytest.mark.parametrize(
    ("right", "of", "kind"),
    [
        (RIGHT, lambda r: r.T, Kind.TRANSPOSED),
        (RIGHT, lambda r: r.flatten(), Kind.WRONG_SHAPE),
        (RIGHT, lambda r: r[None], Kind.WRONG_SHAPE),
        (RIGHT, lambda r: torch.stack([r, r * 0], 2), Kind.MISSING_SUM),
    ],
)
def test_the_right_numbers_in_another_shape(
    right: list[Tensor], of: Callable[[Tensor], Tensor], kind: Kind
) -> None:
    kinds = [found for found, _ in seen(other_shape, "dx", [of(r) for r in right], right)]
    assert kinds[:1] == [kind]


@pytest.mark.parametrize(
    ("value", "right", "is_so"),
    [
        (ROWS[0].squeeze(1), ROWS[0], True),
        (ROWS[0].T, ROWS[0], True),
        (ROWS[0], ROWS[0].expand(7, 3), True),
        (ROWS[0][1:], ROWS[0], False),
        (RIGHT[0].T, RIGHT[0], False),
        (RIGHT[0].flatten(), RIGHT[0], False),
        (torch.ones([1] * 40), torch.ones(3), False),
    ],
)
def test_numbers_are_the_same_but_for_axes_of_length_1(
    value: Tensor, right: Tensor, is_so: bool
) -> None:
    assert same_numbers(value, right) is is_so


def test_a_square_matrix_is_transposed_in_the_same_shape() -> None:
    right = [drawn(n, n) for n, _ in SHAPES]
    ((kind, said),) = seen(other_shape, "dx", [r.T for r in right], right)
    assert (kind, said) == (Kind.TRANSPOSED, "`dx` is the transpose of what it should be.")


def test_a_shape_by_chance_right_in_one_instance_is_no_fit() -> None:
    values = [RIGHT[0].T, RIGHT[1].T + 1]
    assert seen(other_shape, "dx", values, RIGHT) == []


@pytest.mark.parametrize(
    ("of", "kind"),
    [
        (lambda r: torch.cat([r[:1] * 0, r[1:]]), Kind.PARTIAL_ROWS),
        (lambda r: torch.cat([r[:, :1], r[:, 1:] * 0], 1), Kind.PARTIAL_ROWS),
        (lambda r: r.flip(0), Kind.PERMUTED),
        (lambda r: r[:, 1:2].expand(r.shape), Kind.PARTIAL_ROWS),
        (lambda r: r.mean(1, keepdim=True).expand(r.shape), None),
        (lambda r: r + 1, None),
    ],
)
def test_the_right_numbers_in_some_places(
    of: Callable[[Tensor], Tensor], kind: Kind | None
) -> None:
    kinds = [found for found, _ in seen(misplaced, "dx", [of(r) for r in RIGHT], RIGHT)]
    assert kinds[:1] == ([] if kind is None else [kind])


def test_a_tensor_of_many_axes_is_no_reason_to_try_all_their_sums() -> None:
    """There are 2**40 of them: this test ends, or the machine does."""
    assert seen(other_shape, "dx", [torch.ones([1] * 40)] * 2, [torch.ones(3)] * 2) == []


def test_a_missing_row_is_named_where_it_is_the_same_in_the_notebook() -> None:
    def said(missing: list[int]) -> str:
        values = [
            r.clone().index_fill_(0, torch.tensor([i]), 0)
            for r, i in zip(RIGHT, missing, strict=True)
        ]
        return seen(misplaced, "dx", values, RIGHT)[0][1]

    assert said([0, 0]) == "`dx` is right except at index 0 of axis 0, where it is zero."
    assert said([6, 8]) == "`dx` is right except at the last index of axis 0, where it is zero."
    assert (
        said([3, 5]) == "`dx` is right except at some of the indices of axis 0, where it is zero."
    )


def test_an_axis_that_is_not_summed_is_named() -> None:
    copies = [torch.stack([r, r * 3, r * -2], 1) for r in RIGHT]
    found = seen(other_shape, "dx", copies, [c.sum(1) for c in copies])
    assert found[0] == (
        Kind.MISSING_SUM,
        "`dx` still has to be summed over its axis 1: `x` was copied along it.",
    )


@pytest.mark.parametrize("of", [lambda r: r, lambda r: r[:, :2], lambda r: r.T * 1.5])
def test_no_other_shape(of: Callable[[Tensor], Tensor]) -> None:
    assert seen(other_shape, "dx", [of(r) for r in RIGHT], RIGHT) == []


def test_a_constant_is_no_permutation() -> None:
    ones = [torch.ones_like(r) for r in RIGHT]
    assert seen(misplaced, "dx", ones, ones) == []


def test_rows_of_another_shape_are_no_rows() -> None:
    assert seen(misplaced, "dx", [r[:, :1] for r in RIGHT], RIGHT) == []


# --- a small program

LECTURE = REFERENCES.lecture.sizes
OF_X = frozenset({"a", "b"})


def parts(tensor: str, *readers: str) -> Values:
    """The part of a gradient that comes through some of its readers."""
    others = PROGRAM.readers(tensor)
    return REFERENCES.local_vjps(tensor, {*readers}, {*others} - {*readers})


def scaled(values: Values, of: Callable[[float], float]) -> list[Tensor]:
    """Values times a number made of their instance's n."""
    return [v * of(h.instance.sizes["n"]) for v, h in zip(values, HIDDEN, strict=True)]


def combined(one: Values, other: Values, factor: float) -> list[Tensor]:
    return [a + factor * b for a, b in zip(one, other, strict=True)]


def steps(values: Values) -> list[Explanation]:
    triples = zip(values, WHOLE, HIDDEN, strict=True)
    return list(through_steps([Wrong("dx", *one) for one in triples], OF_X, LECTURE))


WHOLE = parts("x", "a", "b")


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (
            parts("x", "a"),
            Kind.MISSING_BRANCH,
            "The part of `dx` that comes through `b` is missing.",
        ),
        (
            parts("x", "b"),
            Kind.MISSING_BRANCH,
            "The part of `dx` that comes through `a` is missing.",
        ),
        (
            combined(WHOLE, parts("x", "a"), -2),
            *(Kind.SIGN, "The part of `dx` that comes through `a` has the wrong sign."),
        ),
        (
            combined(WHOLE, parts("x", "b"), 2),
            *(
                Kind.CONSTANT_FACTOR,
                "The part of `dx` that comes through `b` is 3 times what it should be.",
            ),
        ),
        (scaled(WHOLE, lambda _: -1), Kind.SIGN, "`dx` has the wrong sign."),
        (
            scaled(WHOLE, lambda _: 0.5),
            *(Kind.CONSTANT_FACTOR, "`dx` is 0.5 times what it should be."),
        ),
        (
            scaled(WHOLE, lambda n: n),
            *(Kind.SUM_FOR_MEAN, "`dx` is 6 (n) times what it should be."),
        ),
        (
            scaled(WHOLE, lambda n: 1 / n),
            *(Kind.MEAN_FOR_SUM, "`dx` is 0.166667 (1/n) times what it should be."),
        ),
        (
            scaled(WHOLE, lambda n: n / (n - 1)),
            *(Kind.BESSEL, "`dx` is 1.2 (n/(n - 1)) times what it should be."),
        ),
    ],
)
def test_a_part_is_missing_or_not_taken_just_once(
    values: list[Tensor], kind: Kind, message: str
) -> None:
    assert steps(values)[:1] == [(kind, message)]


@pytest.mark.parametrize(
    "values",
    [
        WHOLE,
        scaled(WHOLE, lambda n: 0.3 if n < 10 else 0.7),
        combined(WHOLE, [torch.ones_like(whole) for whole in WHOLE], 1),
        [whole.T for whole in WHOLE],
        [parts("x", "a")[0], parts("x", "b")[1]],
    ],
    ids=["right", "no number", "something added", "another shape", "another part each time"],
)
def test_no_part_is_missing(values: list[Tensor]) -> None:
    assert steps(values) == []


def test_a_part_of_a_step_further_on_without_its_n_is_no_mean() -> None:
    found = steps(combined(parts("x", "b"), scaled(parts("x", "a"), lambda n: 1 / n), 1))
    assert [kind for kind, _ in found[:1]] == [Kind.CONSTANT_FACTOR]


def test_a_forward_pass_of_plain_numbers_has_no_sizes_to_name() -> None:
    times = name_factor([0.5, 0.5], [{}, {}])
    assert times is not None
    said = "`t` is 0.5 times what it should be."
    assert taken("`t`", times, {}) == (Kind.CONSTANT_FACTOR, said)


@pytest.mark.parametrize(
    ("of", "kind", "message"),
    [
        (lambda _: -1, Kind.SIGN, "`t` has the wrong sign."),
        (lambda _: 2, Kind.CONSTANT_FACTOR, "`t` is 2 times what it should be."),
        (lambda n: n, Kind.SUM_FOR_MEAN, "`t` is 6 (n) times what it should be."),
        (lambda n: 1 / n, Kind.MEAN_FOR_SUM, "`t` is 0.166667 (1/n) times what it should be."),
        (lambda n: n / (n - 1), Kind.BESSEL, "`t` is 1.2 (n/(n - 1)) times what it should be."),
        (lambda n: n - 1, Kind.CONSTANT_FACTOR, "`t` is 5 (n - 1) times what it should be."),
        (lambda n: 2 * n, Kind.CONSTANT_FACTOR, "`t` is 12 (2 * n) times what it should be."),
        (
            lambda n: n / 6,
            Kind.HARD_CODED_SIZE,
            "`t` is right at the notebook's sizes only: n is written as a number.",
        ),
    ],
)
def test_what_is_said_of_so_many_times(
    of: Callable[[float], float], kind: Kind, message: str
) -> None:
    sizes = [reference.instance.sizes for reference in HIDDEN]
    times = name_factor([of(size["n"]) for size in sizes], sizes)
    assert times is not None
    assert taken("`t`", times, LECTURE) == (kind, message)


# --- a maximum


def routed(wrong: Callable[[Tensor, Tensor], Tensor]) -> list[Explanation]:
    """What is said of `dc` if its part from the maxima is made by `wrong`."""
    pairs = zip(parts("c", "d"), parts("c", "maxes"), HIDDEN, strict=True)
    values = [d + wrong(part, h.cotangents["maxes"]) for d, part, h in pairs]
    return seen(misrouted, "dc", values, parts("c", "d", "maxes"))


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        (lambda part, upstream: upstream.expand(part.shape), "to every entry of a row"),
        (lambda part, _: part.roll(1, 1), "to an entry that is not the largest"),
    ],
)
def test_a_maximum_that_went_elsewhere(
    wrong: Callable[[Tensor, Tensor], Tensor], where: str
) -> None:
    sentence = f"Here `dmaxes` goes {where}."
    assert routed(wrong) == [(Kind.MISROUTED_MAX, sentence)]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda part, _: part * 0,
        lambda part, _: part * 2,
        lambda part, _: part.roll(1, 1) + part.roll(2, 1),
        lambda part, _: (part + 1).cumsum(1),
    ],
    ids=["missing", "doubled", "to two", "anything"],
)
def test_a_maximum_that_did_not_go_elsewhere(wrong: Callable[[Tensor, Tensor], Tensor]) -> None:
    assert routed(wrong) == []


def routed_of(program: ForwardProgram, before: int | None = None) -> list[Explanation]:
    """What is said of `dx` where what arrives at `y` goes to all, or to one behind so many."""
    found = []
    for one in references_of(program).hidden:
        upstream, shape = one.cotangents["y"], one.instance.values["x"].shape
        behind = 0 if before is None else shape[-1] - before - 1
        value = F.pad(upstream, (before or 0, behind)).expand(shape)
        found.append(Wrong("dx", value, one.local_vjp("x", frozenset({"y"})), one))
    return list(seen_on_each(misrouted, found))


def test_a_row_in_which_some_are_equal_has_a_maximum_too() -> None:
    program = write_program(
        """
        x = z.relu()
        y = x.amax(2, keepdim=True)
        loss = y.sum()
        """
    )
    said = "Here `dy` goes to every entry of a row."
    assert routed_of(program) == [(Kind.MISROUTED_MAX, said)]


def test_what_is_picked_by_an_index_need_not_be_the_largest() -> None:
    program = write_program(
        """
        y = x.gather(1, labels[:, None])
        loss = y.sum()
        """
    )
    ((_, said),) = routed_of(program, 1)
    assert said == "Here `dy` goes to an entry that is not picked."


def test_a_step_that_reads_one_entry_and_changes_it_picks_none() -> None:
    program = write_program(
        """
        y = x[:, :1].cumsum(0)
        loss = y.sum()
        """
    )
    assert routed_of(program, 0) == []


# --- rows and positions


def looked_up(only: slice, add: bool = True) -> list[Tensor]:
    """A lookup's gradient from some of what arrives, added up or with the last one's alone."""
    made = []
    for reference in HIDDEN:
        values, upstream = reference.instance.values, reference.cotangents["rows"]
        table, index = torch.zeros_like(values["table"]), values["index"][only]
        put = table.index_add_ if add else table.index_copy_
        made.append(put(0, index, upstream[only]))
    return made


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (
            looked_up(slice(None), add=False),
            Kind.NOT_ACCUMULATED,
            "Each row of `dtable` holds one of its contributions where their sum belongs.",
        ),
        (
            looked_up(slice(1, None)),
            *(Kind.PARTIAL_ROWS, "Of `drows`, all but the first index of axis 0 is passed on."),
        ),
        (
            looked_up(slice(-1)),
            *(Kind.PARTIAL_ROWS, "Of `drows`, all but the last index of axis 0 is passed on."),
        ),
        (
            looked_up(slice(1)),
            *(Kind.PARTIAL_ROWS, "Of `drows`, only the first index of axis 0 is passed on."),
        ),
    ],
)
def test_only_some_of_what_arrives(values: list[Tensor], kind: Kind, message: str) -> None:
    assert seen(only_some, "dtable", values, looked_up(slice(None)))[:1] == [(kind, message)]


@pytest.mark.parametrize(
    "values",
    [
        looked_up(slice(None)),
        looked_up(slice(2, None)),
        [value * 2 for value in looked_up(slice(None), add=False)],
        [value.T for value in looked_up(slice(1))],
        [torch.zeros_like(value) for value in looked_up(slice(None))],
    ],
    ids=["right", "two left out", "doubled", "another shape", "zeros"],
)
def test_all_of_what_arrives(values: list[Tensor]) -> None:
    assert seen(only_some, "dtable", values, looked_up(slice(None))) == []
