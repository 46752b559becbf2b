"""The answer cells among what a kernel ran."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from corpus.readers.lecture_course import ATOMIC
from grader.answer.parse import AnswerCell
from grader.answer.quote import LONGEST_QUOTE
from grader.notebook.history import History, in_order

GRADIENTS = ATOMIC.gradients
LAB: dict[str, Any] = {"content": {"allow_stdin": True}}


def request(cell_id: str | None = None, *deleted: str, **nbgrader: Any) -> dict[str, Any]:
    """What JupyterLab asks for."""
    metadata: dict[str, Any] = {"deletedCells": list(deleted), "trusted": True}
    metadata |= {"cellId": cell_id} if cell_id else {}
    metadata |= {"nbgrader": {"solution": True, **nbgrader}} if nbgrader else {}
    return {"metadata": metadata, "content": {"allow_stdin": True}}


PROGRAM = {"metadata": {}, "content": {"allow_stdin": False}}
"""What nbclient and nbval ask for."""


def fail() -> None:
    raise ValueError


class Shell:
    """As much of an IPython shell as the history follows."""

    def __init__(self, *stored: str) -> None:
        self.history_manager = SimpleNamespace(input_hist_raw=["", *stored])
        self.events = self
        self.callbacks: list[tuple[str, Any]] = []
        self.user_ns: dict[str, Any] = {"one": 1, "fail": fail}

    def register(self, event: str, callback: Any) -> None:
        self.callbacks.append((event, callback))

    def run(self, source: str) -> None:
        self._trigger("pre_run_cell", SimpleNamespace(raw_cell=source))
        error = None
        try:
            exec(compile(source, "cell", "exec"), self.user_ns)
        except Exception as raised:
            error = raised
        at_run = None if isinstance(error, SyntaxError) else error
        self._trigger("post_run_cell", SimpleNamespace(success=error is None, error_in_exec=at_run))

    def _trigger(self, event: str, info: Any) -> None:
        for name, callback in self.callbacks:
            if name == event:
                callback(info)


def answers(*runs: tuple[str, dict[str, Any]]) -> dict[str, str]:
    """The answer cells of notebook 1 after some runs, without their comments."""
    history = History()
    for source, asked in runs:
        history.note(source, asked)
    return {
        cell.grade_id: cell.source.partition("\n")[2] if "answer:" in cell.source else cell.source
        for cell in history.answers("ex1", GRADIENTS)
    }


def cell(text: str, grade_id: str = "ex1-x") -> str:
    return f"# answer: {grade_id}\n{text}"


def test_history_begins_with_what_is_stored_and_goes_on() -> None:
    shell, history = Shell("a = 1"), History()
    history.follow(shell)
    shell.run("b = 2")
    assert [run.cell.source for run in history.runs] == ["", "a = 1", "b = 2"]


@pytest.mark.parametrize(
    ("runs", "unreached"),
    [
        (["dh = one\ndW2 = none\ndb2 = one"], {"dW2", "db2"}),
        (["dh = one\nfail()\ndb2 = one"], {"db2"}),
        (["dh = one\nfor _ in 1, 2:\n    fail()\n    db2 = one"], {"db2"}),
        (["dh = one\ndb2 = ("], {"dh", "db2"}),
        (["fail()\ndh = one", "dh = one"], set()),
        (["fail()\ndh = one", "fail()"], {"dh"}),
        (["dh = one", "dW2 = dh\nfail()"], set()),
    ],
)
def test_what_stands_behind_a_line_that_raised_was_not_reached(
    runs: list[str], unreached: set[str]
) -> None:
    shell, history = Shell(), History()
    history.follow(shell)
    for source in runs:
        shell.run(source)
    assert history.unreached(GRADIENTS) == unreached


@pytest.mark.parametrize(
    ("runs", "has_failed"),
    [
        (["def mine():\n    one"], False),
        (["# a comment\ndef mine():\n    return ("], True),
        (["def mine():\n    one", "def mine():\n    return 0,01"], True),
        (["def mine(:", "def mine():\n    one"], False),
        (["fail()\ndef mine():\n    one"], True),
        (["def mine():\n    one\nfail()"], False),  # it was defined before
        (["def mine():\n    one", "def minel(:"], False),
    ],
)
def test_a_function_whose_cell_ended_before_it_is_an_earlier_one(
    runs: list[str], has_failed: bool
) -> None:
    shell, history = Shell(), History()
    history.follow(shell)
    for source in runs:
        shell.run(source)
    assert history.has_failed("mine") is has_failed


def test_a_shell_without_a_kernel_has_no_requests() -> None:
    shell, history = Shell(cell("dh = 1")), History()
    history.follow(shell)
    shell.run(cell("dh = 2"))
    assert history.answers("ex1", GRADIENTS) == (AnswerCell("ex1-x", cell("dh = 2")),)


@pytest.mark.parametrize(
    ("source", "grade_id"),
    [
        ("# answer: ex1-loss\na = 1", "ex1-loss"),
        ("\n\n  #answer:ex1-loss  \r\na = 1", "ex1-loss"),
        ("%%time\n# answer: ex1-loss\na = 1", "ex1-loss"),
        ("# my own remark\n\n# answer: ex1-loss\na = 1", "ex1-loss"),
        ("# answer: ex1_loss", None),
        ("a = 1\n# answer: ex1-loss", None),
        ("# answer: ex1-loss, the first try\na = 1", None),
        ("# answers: ex1-loss", None),
        ("# Answer: ex1-loss", None),
        ("'# answer: ex1-loss'", None),
        ("# answer: ex2-loss", None),
        ("", None),
    ],
)
def test_an_answer_begins_with_its_comment(source: str, grade_id: str | None) -> None:
    history = History()
    history.note(source, LAB)
    expected = () if grade_id is None else (AnswerCell(grade_id, source),)
    assert history.answers("ex1", GRADIENTS) == expected


def test_metadata_count_before_comments() -> None:
    asked = request("a", grade_id="ex1-y")
    assert answers(("dh = 1", asked)) == {"ex1-y": "dh = 1"}
    assert answers((cell("dh = 1"), asked)) == {"ex1-y": "dh = 1"}
    assert answers((cell("dh = 1"), request("a", grade_id="ex1-y", solution=False))) == {}


@pytest.mark.parametrize("asked", [{}, LAB, {"metadata": None, "content": None}])
def test_of_each_cell_the_last_text_counts(asked: dict[str, Any]) -> None:
    runs = [cell("dh = 1\ndW2 = 1", "ex1-a"), cell("dC = 1", "ex1-b"), "x", cell("dh = 2", "ex1-a")]
    assert answers(*((source, asked) for source in runs)) == {"ex1-a": "dh = 2", "ex1-b": "dC = 1"}


@pytest.mark.parametrize("asked", [request("a"), LAB], ids=["known", "unknown"])
def test_a_cell_under_another_first_line_takes_the_place_of_its_earlier_run(
    asked: dict[str, Any],
) -> None:
    runs = [cell("dh = 1", "ex1-lineer2"), cell("dh = 2", "ex1-linear2")]
    assert answers(*((source, asked) for source in runs)) == {"ex1-linear2": "dh = 2"}


def test_a_cell_whose_first_line_is_gone_is_no_answer_any_more() -> None:
    runs = [(cell("dh = 1"), request("a")), (cell("dC = 1"), request("b"))]
    assert answers(*runs, ("dh = 2", request("a"))) == {"ex1-x": "dC = 1"}
    # Where nobody knows which cell ran, it may be another.
    assert answers((cell("dh = 1"), LAB), ("dh = 2", LAB)) == {"ex1-x": "dh = 1"}


def test_where_nobody_knows_which_cell_ran_another_with_fewer_names_replaces_none() -> None:
    runs = [cell("t = 1\ndh = t", "ex1-a"), cell("dh = 2", "ex1-b"), cell("dh += 1", "ex1-c")]
    assert [*answers(*((source, LAB) for source in runs))] == ["ex1-a", "ex1-b", "ex1-c"]
    assert [*answers(*((source, PROGRAM) for source in runs))] == ["ex1-a", "ex1-b", "ex1-c"]


class TestSeveralWithOneId:
    def test_pieces_of_a_split_cell_all_count(self) -> None:
        """The second has the metadata alone, and JupyterLab sends them."""
        first, second = "dlogits = F.softmax(logits, 1)", "dlogits[range(n), Yb] -= 1"
        for requests in (
            [request("a", grade_id="ex1-x"), request("b", grade_id="ex1-x")],
            [request("a", grade_id="ex1-x"), request("b", grade_id="ex1-x")] * 2,
        ):
            sources = [cell(first), second] * (len(requests) // 2)
            assert answers(*zip(sources, requests, strict=True)) == {
                "ex1-x": first,
                "ex1-x#2": second,
            }

    def test_a_piece_that_runs_again_is_no_third(self) -> None:
        first, second = request("a", grade_id="ex1-x"), request("b", grade_id="ex1-x")
        found = answers(
            (cell("dh = 1"), first),
            ("dh /= n", second),
            ("dh /= 2 * n", second),
        )
        assert found == {"ex1-x": "dh = 1", "ex1-x#2": "dh /= 2 * n"}

    def test_a_program_runs_every_cell_once(self) -> None:
        runs = [cell("dh = 1"), cell("dh /= n"), cell("dh += 1"), cell("dC = 2")]
        assert list(answers(*((source, PROGRAM) for source in runs)).values()) == [
            "dh = 1",
            "dh /= n",
            "dh += 1",
            "dC = 2",
        ]
        runs += [cell("dh = 2\ndC = 3")]
        assert answers(*((source, PROGRAM) for source in runs)) == {"ex1-x": "dh = 2\ndC = 3"}

    def test_a_name_that_another_answer_needs_stays(self) -> None:
        first, other = "def twice(x):\n    return x + x\ndh = twice(1)", "dh = 2"
        runs = [cell(first), cell(other), cell("dC = twice(3)", "ex1-y")]
        found = answers(*((source, PROGRAM) for source in runs))
        assert [*found.values()] == [first, other, "dC = twice(3)"]

    def test_colab_sends_its_ids_in_a_place_of_its_own(self) -> None:
        ids = [{"metadata": {"colab": {"cell_id": one}}} for one in ("a", "b", "b")]
        runs = [cell("dh = 1"), cell("dh /= n"), cell("dh /= 2 * n")]
        assert [*answers(*zip(runs, ids, strict=True)).values()] == ["dh = 1", "dh /= 2 * n"]

    def test_a_split_that_was_undone_leaves_nothing(self) -> None:
        found = answers(
            (cell("dh = 1"), request("a")),
            (cell("dh /= n\ndC = 2"), request("b")),
            (cell("dh = 1\ndh /= n"), request("a", "b")),
        )
        assert found == {"ex1-x": "dh = 1\ndh /= n"}

    def test_what_ran_before_anybody_listened_is_replaced(self) -> None:
        history = History()
        history.follow(Shell(cell("dh = 1\ndC = 2")))
        history.note(cell("dh = 3"), request("a"))
        assert history.answers("ex1", GRADIENTS) == (AnswerCell("ex1-x", cell("dh = 3")),)


@pytest.mark.parametrize(
    ("sources", "prefix"),
    [
        (["# answer: ex1-a", "# check: ex2s-a\ncheck()", "x"], "ex2s"),
        (["# check: ex1-a", "%%time\n# answer: ex3-a"], "ex3"),
        (["# try: ex1-a", "x = 1\n# answer: ex1-a"], None),
        ([], None),
    ],
)
def test_the_exercise_whose_cell_ran_last(sources: list[str], prefix: str | None) -> None:
    history = History()
    for source in sources:
        history.note(source, LAB)
    assert history.latest_prefix() == prefix


@pytest.mark.parametrize(
    ("asked", "lost"),
    [
        ([request("a"), request("a")], {"dh"}),
        ([request("a"), request("b")], set()),
        ([request("a"), request("a"), request("a")], set()),
        ([LAB, LAB], {"dh"}),
        ([PROGRAM, PROGRAM], set()),
    ],
)
def test_a_cell_that_lost_its_first_line(asked: list[dict[str, Any]], lost: set[str]) -> None:
    history = History()
    for source, one in zip((cell("dh = 1"), "dh = 2\ndC = 3", cell("dh = 3")), asked, strict=False):
        history.note(source, one)
    assert history.lost(GRADIENTS) == dict.fromkeys(lost, "ex1-x")


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
def test_cells_stand_as_in_the_notebook_whatever_ran_first(order: tuple[int, ...]) -> None:
    cells = [
        AnswerCell("ex1-own", "def helper(d): return d"),
        AnswerCell("ex1-loss", "dlogprobs = ..."),
        AnswerCell("ex1-softmax", "dcounts = 1\ndprobs = (1 +"),
        AnswerCell("ex1-linear2", "dh, dW2 = 1, 2"),
    ]
    assert in_order([cells[i] for i in order], ATOMIC.gradients) == tuple(cells)


def test_a_cell_that_changes_an_earlier_ones_gradient_does_not_follow_it_at_once() -> None:
    """It would change `dlogits` before `dh` was computed of it."""
    cells = [
        AnswerCell("ex1-logits", "dlogits = a"),
        AnswerCell("ex1-hidden", "dh = dlogits @ W2.T"),
        AnswerCell("ex1-tanh", "dlogits *= 2\ndhpreact = (1 - h**2) * dh"),
    ]
    assert in_order(cells, ATOMIC.gradients) == tuple(cells)
    again = AnswerCell("ex1-tanh", "dlogits *= 2")  # it has no gradient of its own
    assert in_order([cells[0], again], ATOMIC.gradients) == (cells[0], again)


def test_a_piece_that_assigns_nothing_stays_behind_its_cell() -> None:
    cells = [
        AnswerCell("ex1-linear2", "dh = 1"),
        AnswerCell("ex1-linear2#3", "dh.sub_(h)"),
        AnswerCell("ex1-loss", "dlogprobs = 1"),
    ]
    assert in_order(cells, ATOMIC.gradients) == (
        cells[2],
        cells[0],
        AnswerCell("ex1-linear2#2", "dh.sub_(h)"),
    )


def test_the_other_cells_are_called_by_their_first_line_the_latest_first() -> None:
    history = History()
    history.note("x = 1", request("a"))
    history.note(cell("dh = 1"), request("b"))
    history.note("\nimport numpy as np\ny = 2", LAB)
    history.note("x = 3", request("a"))
    assert history.others() == (
        AnswerCell("the cell that begins with `import numpy as np`", "\nimport numpy as np\ny = 2"),
        AnswerCell("the cell that begins with `x = 3`", "x = 3"),
    )


def test_a_cell_is_called_by_no_megabyte() -> None:
    history = History()
    history.note(f"dh = '{'x' * 10**6}'", {})
    (cell,) = history.others()
    assert len(cell.grade_id) < 2 * LONGEST_QUOTE
