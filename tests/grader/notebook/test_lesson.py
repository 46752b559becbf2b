"""The lesson's functions in real notebooks."""

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from corpus.readers.exercise_text import read_cells, right_answers
from corpus.readers.lecture_course import ATOMIC, COURSE, NOTEBOOKS
from corpus.readers.places import PROJECT
from grader import board, check, heat_map, nudge
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade
from grader.notebook import running_notebook
from grader.notebook.lesson import NotEveryGradientPasses, insist, is_strict
from grader.program.parse import body_source
from grader.reports import wording
from grader.submission.read import read_submission
from grader.verdict import Check, Comparison, Flag, Outcome, Verdict

CELLS = dict(read_cells(right_answers()["lecture"]))
SETUP = (
    "import torch\nimport torch.nn.functional as F\n"
    "from grader import board, check, cmp, heat_map, nudge, points, start_lesson\n"
    "start_lesson()"
)
OLDER_SETUP = SETUP.replace(", start_lesson\nstart_lesson()", "")
"""Of notebooks from when importing the lesson was enough."""
INPUTS = """\
torch.manual_seed(1)
n_embd, n_hidden, vocab_size, block_size = 10, 64, 27, 3
Xb, Yb = torch.randint(27, (32, 3)), torch.randint(27, (32,))
C, W1, b1 = torch.randn(27, 10), torch.randn(30, 64) / 5, torch.randn(64)
bngain, bnbias = torch.randn(1, 64), torch.randn(1, 64)
W2, b2 = torch.randn(64, 27) / 8, torch.randn(27)
"""
FORWARD = body_source(ATOMIC.forward)
LINEAR2 = CELLS["ex1-linear2"]
WRONG = LINEAR2.replace("dh = dlogits", "dh = 2 * dlogits")
RAISING = LINEAR2.replace("dh = dlogits @ W2.T", "dh = dlogits @ W2")
BLANK = "# answer: ex1-linear2\ndh = ...  # your turn\ndW2 = ...\ndb2 = ..."
EXACT = "exact: True  | approximate: True  | maxdiff: 0.0"

SCRIPT = {
    "setup": SETUP,
    "before anything": "check('dh')",
    "board before anything": "board()",
    "inputs": INPUTS,
    "forward": FORWARD,
    "not started": "check('dlogprobs')",
    "late section": CELLS["ex1-softmax"],
    "early section": CELLS["ex1-loss"],
    "late section again": CELLS["ex1-softmax"],
    "jumped": "check('dlogprobs', 'dprobs', 'counts')",
    "max": CELLS["ex1-max"],
    "blank": BLANK,
    "check blank": "check('dh')",
    "points of blank": "points('dh')",
    "heat map of nothing": "heat_map('dh')",
    "nudge of nothing": "nudge('dh', 3, 5)",
    "wrong": WRONG,
    "check wrong": "check('dh', 'db2')",
    "heat map of wrong": "heat_map('h')",
    "nudge of wrong": "nudge('h', 3, 5)",
    "nudge too far": "nudge('dh', 3, 64)",
    "nudge of a matrix with one index": "nudge('dh', 3)",
    "wrong shape": "keep, dh = dh, dh.T\nheat_map('dh')\ndh = keep",
    "nudge of wrong shape": "keep, dh = dh, dh.T\nnudge('dh', 3, 5)\ndh = keep",
    "tanh": CELLS["ex1-tanh"],
    "check carried": "check('dhpreact')",
    "points of wrong and carried": "points('dh', 'dhpreact')",
    "raising": RAISING,
    "check raising": "check('dh')",
    "check behind raising": "check('db2')",
    "nudge of raising": "nudge('dh', 3, 5)",
    "right": LINEAR2,
    "check right": "check('dh', 'W2')",
    "check stale": "check('dhpreact')",
    "heat map of right": "heat_map('dW2')",
    "heat map with labels": "heat_map('logits')",
    "nudge of right": "nudge('dW2', -1, [5][0])",
    "nudge of carried": "nudge('dhpreact', 0, 0)",
    "set outside": "dbngain = torch.ones(1, 64)",
    "check outside": "check('dbngain')",
    "unknown": "check('dnothing', 'dh')",
    "unknown heat map": "heat_map('dnothing')",
    "unknown nudge": "nudge('dnothing', 0)",
    "slip": "check('dlogprob')",
    "nudge of indices": "nudge('dXb', 0, 0)",
    "board of a tensor": "board(C)",
    "board of nothing": "board('ex9')",
    "no string": "check(dh)",
    "without gradients": "with torch.no_grad(): check('dh')",
    "changed input": "keep, W1 = W1, None\ncheck('dh')\nW1 = keep",
    "missing input": "keep = W1\ndel W1\ncheck('dh')\nW1 = keep",
    "nudge on missing input": "keep = W1\ndel W1\nnudge('dh', 3, 5)\nW1 = keep",
    "all": "check()",
    "board": "board()",
    "value": "result = check('dh')\nresult",
    "points of right": "points('dh', 'dW2', 'b2')",
    "points of all": "points()",
    "points outside": "points('dbngain')",
    "points unknown": "points('dnothing')",
    "points on no forward pass": "keep, W1 = W1, None\ntotal = points('dh')\nW1 = keep\ntotal",
    "tanh on old h": "h = h.clone()\nh[3, 4] += 1\n" + CELLS["ex1-tanh"],
    "check stale forward": "check('dhpreact', 'dh')",
    "wrong on old h": CELLS["ex1-tanh"].replace("1.0 -", "2.0 -"),
    "check wrong on old h": "check('dhpreact')",
    "forward again": FORWARD + "\n" + LINEAR2,
    "tanh again": CELLS["ex1-tanh"],
    "check tanh again": "check('dhpreact')",
    "two wrong": LINEAR2.replace("dh = dlogits", "dh = 2 * dlogits").replace(".sum(0)", ".mean(0)"),
    "check two wrong": "check('db2', 'dh', 'dW2')",
    "without import": "keep = heat_map\ndel heat_map\ncheck('dh')\nheat_map = keep",
    "refused": "# answer: ex1-linear2\nloss.backward()\ndh = h.grad\ndW2 = W2.grad",
    "check refused": "check('dh', 'dW2')",
    "heat map without a name": "heat_map()",
    "nudge without a name": "nudge()",
}


def execute(
    script: dict[str, str],
    project: Path,
    store_history: bool = True,
    metadata: Mapping[str, dict[str, Any]] | None = None,
) -> dict[str, list[Any]]:
    """Run the cells in one kernel, as JupyterLab does; their outputs, by the cells' keys.

    Those that begin with the same line are one cell, unless `metadata` says otherwise.
    """
    ids = {key: {"cellId": source.partition("\n")[0]} for key, source in script.items()}
    metadata = ids if metadata is None else metadata
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in script.values()]
    for key, cell in zip(script, notebook.cells, strict=True):
        cell.metadata.update(metadata.get(key, {}))
    resources = {"metadata": {"path": str(project)}}
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        resources=resources,
        allow_errors=True,
        timeout=600,
        coalesce_streams=True,  # a slow kernel sends what is printed in pieces
    )
    with client.setup_kernel():
        for number, cell in enumerate(notebook.cells):
            as_in_jupyterlab(client, cell)
            client.execute_cell(cell, number, store_history=store_history)
    return {key: cell.outputs for key, cell in zip(script, notebook.cells, strict=True)}


def as_in_jupyterlab(client: NotebookClient, cell: nbformat.NotebookNode) -> None:
    """Have the request to run a cell say what JupyterLab's says."""
    assert client.kc is not None
    session = client.kc.session
    message = type(session).msg

    def msg(kind: str, content: Any = None, **others: Any) -> Any:
        if kind == "execute_request":
            others["metadata"] = {"cellId": cell.id, "deletedCells": [], **cell.metadata}
            content = {**content, "allow_stdin": True}
        return message(session, kind, content, **others)

    session.msg = msg


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[Any]]:
    return execute(SCRIPT, PROJECT)


def text(outputs: list[Any]) -> str:
    """What was printed, then the card or the board in words."""
    shown = ""
    for output in outputs:
        if output.output_type == "stream":
            assert output.name == "stdout"
            shown += output.text
        else:
            assert output.output_type == "display_data"
            assert sorted(output.data) == ["text/html", "text/plain"]
            shown += output.data["text/plain"]
    return shown


def named(said: str) -> dict[str, str]:
    """The verdict on each gradient of a card in words."""
    found = re.findall(r"(?m)^\S ([a-z ]+)[a-z, ]*: ([\w, ]+\w)", said)
    return {name: word for word, names in found for name in names.split(", ")}


def picture(outputs: list[Any]) -> str:
    """The words that go with the one picture that was shown."""
    (output,) = outputs
    assert base64.b64decode(output.data["image/png"]).startswith(b"\x89PNG")
    words: str = output.metadata["image/png"]["alt"]
    assert output.data["text/plain"] == f"<Picture: {words}>"
    return words


@pytest.mark.slow
def test_nothing_ends_in_a_traceback(outputs: dict[str, list[Any]]) -> None:
    errors = [key for key, shown in outputs.items() if any(o.output_type == "error" for o in shown)]
    # The student's own exceptions, in the student's own cells; an author's mistake.
    assert errors == ["late section", "raising", "points unknown", "refused"]


NOT_STARTED = "run the cells from the top down to the forward pass."
OUTSIDE = (
    "Only answer cells count, but dbngain is in the cell that begins with"
    " `dbngain = torch.ones(1, 64)`. Move it into one. If that cell is its own, only its first line"
    " is missing: `# answer: ...`."
)
SOME = "dlogprobs, dprobs, dcounts_sum_inv, dcounts_sum, dcounts, dnorm_logits and 20 more."
STALE = "Your code gives the right value, but the notebook has another"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "lines"),
    [
        ("before anything", ["Xb, Yb, C, W1, b1, bngain, bnbias, W2 and b2 are not defined: "]),
        ("not started", ["… to do: dlogprobs"]),
        ("jumped", [f"✓ pass: {name} | {EXACT}" for name in ("dlogprobs", "dprobs", "dcounts")]),
        ("check blank", ["… to do: dh"]),
        (
            "check wrong",
            [
                "✗ fail: dh (ex1-linear2, line 2)",
                "    dh = 2 * dlogits @ W2.T",
                "         ^",
                "  ",
                "  Hint: ",
                "  Shape (32, 64), as expected. Largest difference ",
                '  Draw the error: heat_map("dh")',
                f"✓ pass: db2 | {EXACT}",
            ],
        ),
        (
            "check carried",
            [
                "↓ carried: dhpreact",
                "  This line is right, but an incoming gradient is not: see dh.",
            ],
        ),
        (
            "check raising",
            [
                "! error: dh (ex1-linear2, line 2)",
                "    dh = dlogits @ W2",
                "         ^^^^^^^^^^^^",
                "  This line raised RuntimeError: mat1 and mat2 shapes",
            ],
        ),
        ("check right", [f"✓ pass: dh | {EXACT}", f"✓ pass: dW2 | {EXACT}"]),
        ("check stale", ["✓ pass, run again: dhpreact", f"  {STALE}"]),
        ("check outside", ["… to do: dbngain", f"  {OUTSIDE}"]),
        ("unknown", ["dnothing is no gradient of this exercise; it asks for dlogprobs, "]),
        ("unknown heat map", ["dnothing is no gradient of this exercise; it asks for dlogprobs, "]),
        ("slip", ["dlogprob is no gradient of this exercise; did you mean dlogprobs or dprobs?"]),
        ("nudge of indices", [f"dXb is no gradient of this exercise; it asks for {SOME}"]),
        ("board of a tensor", ['Give the exercise by its name, in quotes: board("ex1").']),
        ("board of nothing", ["There is no exercise ex9; there are ex1, ex2, ex2s, ex3, ex4."]),
        ("no string", ['Give gradients by name, in quotes: check("dlogits").']),
        ("heat map without a name", ['Give gradients by name, in quotes: heat_map("dlogits").']),
        ("nudge without a name", ['Give gradients by name, in quotes: nudge("dlogits").']),
        ("without gradients", [f"✓ pass: dh | {EXACT}"]),
        ("changed input", ["The forward pass does not run with the notebook's Xb, Yb, "]),
        ("missing input", [f"W1 is not defined: {NOT_STARTED}"]),
        ("nudge on missing input", [f"W1 is not defined: {NOT_STARTED}"]),
        ("unknown nudge", ["dnothing is no gradient of this exercise; it asks for dlogprobs, "]),
        (
            "nudge too far",
            ["dh has shape (32, 64): index 64 is out of range in dimension 1, which"],
        ),
        ("nudge of a matrix with one index", ["dh has shape (32, 64), so one of its numbers has "]),
        ("heat map of nothing", ["dh has no value in this notebook yet: there is nothing"]),
        ("value", [f"✓ pass: dh | {EXACT}"]),
        (
            "check stale forward",
            [
                "↻ forward pass",
                "  Your notebook has `h = h.clone()` where the course's forward pass has `h = ",
                f"✓ pass: dh | {EXACT}",
                "✓ pass, run again: dhpreact",
            ],
        ),
        ("check tanh again", ["✓ pass: dhpreact | exact: "]),
    ],
)
def test_what_is_printed(outputs: dict[str, list[Any]], key: str, lines: list[str]) -> None:
    printed = text(outputs[key]).splitlines()
    if key == "check raising":
        # What a diagnosis adds to an exception is not this test's.
        printed = printed[: len(lines)]
    assert len(printed) == len(lines), printed
    for line, beginning in zip(printed, lines, strict=True):
        assert line.startswith(beginning)


@pytest.mark.slow
def test_no_number_of_an_earlier_run_is_shown_behind_a_line_that_raised(
    outputs: dict[str, list[Any]],
) -> None:
    said = text(outputs["check behind raising"]).splitlines()
    assert said[0] == "✓ pass, run again: db2"


@pytest.mark.slow
def test_the_card_is_html_with_the_same_words(outputs: dict[str, list[Any]]) -> None:
    (card,) = outputs["check wrong"]
    assert card.data["text/html"].startswith('<div class="bpn-card"')
    for words in ("</span> fail</span>", "<code>dh</code>", "dh = <u>2", "Largest difference"):
        assert words in card.data["text/html"]


@pytest.mark.slow
def test_a_wrong_line_on_an_old_forward_pass_has_both(outputs: dict[str, list[Any]]) -> None:
    heads = [
        line
        for line in text(outputs["check wrong on old h"]).splitlines()
        if ":" in line[:14] and not line.startswith(" ")
    ]
    assert heads == ["✗ fail: dhpreact (ex1-tanh, line 2)"]


@pytest.mark.slow
def test_several_stand_from_the_loss_down(outputs: dict[str, list[Any]]) -> None:
    lines = text(outputs["check two wrong"]).splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "✗ fail: dh (ex1-linear2, line 2)",
        f"✓ pass: dW2 | {EXACT}",
        "✗ fail: db2 (ex1-linear2, line 4)",
    ]


@pytest.mark.slow
def test_a_refusal_is_a_card(outputs: dict[str, list[Any]]) -> None:
    lines = text(outputs["check refused"]).splitlines()
    assert any(line.startswith("⊘ refused: dh") for line in lines)


@pytest.mark.slow
def test_the_call_is_one_that_works(outputs: dict[str, list[Any]]) -> None:
    last = text(outputs["without import"]).splitlines()[-1]
    assert last == '  Draw the error: from grader import heat_map; heat_map("dh")'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "points"),
    [
        ("points of blank", 0),
        ("points of wrong and carried", 1),
        ("points of right", 3),
        ("points of all", 12),
        ("points outside", 0),
        ("points on no forward pass", 1),
    ],
)
def test_points_are_a_value_and_nothing_else(
    outputs: dict[str, list[Any]], key: str, points: int
) -> None:
    (output,) = outputs[key]
    assert output.output_type == "execute_result"
    assert output.data == {"text/plain": str(points)}


@pytest.mark.slow
def test_points_of_an_unknown_gradient_are_a_sentence(outputs: dict[str, list[Any]]) -> None:
    (output,) = outputs["points unknown"]
    (sentence,) = output.traceback
    assert sentence.startswith("dnothing is no gradient of this exercise; it asks for dlogprobs, ")


@pytest.mark.slow
def test_in_strict_mode_a_check_raises_after_it_has_spoken(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = {
        "setup": SETUP,
        "inputs": INPUTS,
        "forward": FORWARD,
        "loss": CELLS["ex1-loss"],
        "check right": "check('dlogprobs')",
        "wrong": WRONG,
        "tanh": CELLS["ex1-tanh"],
        "check others": "check('dlogits', 'dh', 'db2', 'dhpreact')",
        "points": "points('dh', 'db2')",
        "check unknown": "check('dnothing')",
        "no forward pass": "W1 = None\ncheck('dlogprobs')",
        "no forward pass, wrong": "check('dh')",
    }
    monkeypatch.setenv("GRADER_STRICT", "1")
    outputs = execute(script, project)
    errors = {
        key: shown[-1].traceback
        for key, shown in outputs.items()
        if shown and shown[-1].output_type == "error"
    }
    others = "dlogits (to do), dh (fail), db2 (carried), dhpreact (carried)"
    why = "dh: `2` should not be a factor here."
    assert errors == {
        # The student's own: there is no dlogits yet.
        "wrong": outputs["wrong"][-1].traceback,
        "tanh": outputs["tanh"][-1].traceback,
        "check others": [f"Not every gradient of this check passes: {others}. {why}"],
        "check unknown": outputs["check unknown"][-1].traceback,
        "no forward pass, wrong": [f"Not every gradient of this check passes: dh (fail). {why}"],
    }
    assert errors["check unknown"][0].startswith("dnothing is no gradient of this exercise")
    assert text(outputs["check right"]) == f"✓ pass: dlogprobs | {EXACT}"
    said = text(outputs["check others"][:-1])
    assert "✗ fail: dh (ex1-linear2, line 2)" in said
    assert text(outputs["no forward pass"]).startswith("The forward pass does not run")
    assert outputs["points"][0].data == {"text/plain": "1"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("board before anything", "0 of 26 points."),
        ("board", "12 of 26 points."),
    ],
)
def test_the_board_comes_with_words(outputs: dict[str, list[Any]], key: str, words: str) -> None:
    assert text(outputs[key]).startswith(words)
    assert f'alt="{words}' in outputs[key][0].data["text/html"]


@pytest.mark.slow
def test_without_names_every_gradient_is_checked(outputs: dict[str, list[Any]]) -> None:
    said = text(outputs["all"])
    assert sorted(named(said)) == sorted(ATOMIC.gradients)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("heat map of wrong", "dh: largest error "),
        ("heat map of right", "dW2: "),
    ],
)
def test_pictures_come_with_words(outputs: dict[str, list[Any]], key: str, words: str) -> None:
    assert picture(outputs[key]).startswith(words)


@pytest.mark.slow
def test_a_gradient_of_another_shape_has_no_picture(outputs: dict[str, list[Any]]) -> None:
    words = "dh has shape (64, 32), but a gradient has its tensor's shape, (32, 64)."
    assert text(outputs["wrong shape"]).startswith(words)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "lines"),
    [
        ("nudge of nothing", ["dh has no value yet, so there is no slope of yours."]),
        ("nudge of wrong", ["yours ", "Yours is 2 times autograd's."]),
        (
            "nudge of wrong shape",
            ["dh has shape (64, 32), but a gradient has its tensor's shape, "],
        ),
        (
            "nudge of raising",
            [
                "yours ",
                "Yours is 2 times autograd's.",
                'The answer that gives dh raises an exception: see check("dh").',
            ],
        ),
        ("nudge of right", ["yours ", "All three agree."]),
        ("nudge of carried", ["yours ", "Yours is 2 times autograd's."]),
    ],
)
def test_a_nudge_is_numbers_and_a_picture(
    outputs: dict[str, list[Any]], key: str, lines: list[str]
) -> None:
    printed = "".join(output.get("text", "") for output in outputs[key]).splitlines()
    assert re.fullmatch(r"\w+\[\d+, \d+\] = .*, moved by ±1e-05", printed[0])
    assert [line.split()[:-1] for line in printed[1:3]] == [["slope", "found"], ["autograd"]]
    for line, beginning in zip(printed[3:], lines, strict=True):
        assert line.startswith(beginning)
    (drawn,) = [output for output in outputs[key] if output.output_type == "display_data"]
    assert sorted(drawn.data) == ["image/png", "text/html", "text/plain"]
    assert drawn.metadata["image/png"]["alt"].startswith("The change of the loss as ")


@pytest.mark.slow
def test_the_heat_map_of_a_right_gradient_says_so(outputs: dict[str, list[Any]]) -> None:
    words = picture(outputs["heat map of right"])
    assert "right, up to rounding" in words or "equal to the reference" in words
    assert "Framed" not in words


@pytest.mark.slow
def test_the_heat_map_of_a_gradient_with_a_column_for_each_label_frames_the_labels(
    outputs: dict[str, list[Any]],
) -> None:
    words = picture(outputs["heat map with labels"])
    assert "Framed is the place in each row that Yb names." in words


@pytest.mark.slow
def test_cells_that_are_run_without_being_stored_count_too(project: Path) -> None:
    script = {
        "setup": SETUP,
        "inputs": INPUTS,
        "forward": FORWARD,
        "first try": CELLS["ex1-loss"].replace("-1", "-2"),
        "answer": CELLS["ex1-loss"],
        "check": "check('dlogprobs')",
    }
    outputs = execute(script, project, store_history=False)
    assert text(outputs["check"]) == f"✓ pass: dlogprobs | {EXACT}"


@pytest.mark.parametrize(
    ("outcome", "times"), [(Outcome.PASS, 2), (Outcome.FAIL, 2), (Outcome.ERROR, 3)]
)
def test_an_answer_is_judged_again_only_where_it_changed(
    monkeypatch: pytest.MonkeyPatch, outcome: Outcome, times: int
) -> None:
    """But for an error, which may be the machine's."""
    judged: list[object] = []

    def grade(exercise: object, cells: object, *_: object) -> tuple[list[Verdict], list[Flag]]:
        judged.append(cells)
        comparison = Comparison("dh", None, None, None, None, None)
        return [Verdict("dh", outcome, comparison, Check.RIGHT, Check.RIGHT)], []

    monkeypatch.setattr("grader.notebook.running_notebook.grade_exercise", grade)
    monkeypatch.setattr(running_notebook, "worker", lambda: None)
    # Texts that no other test has: what was judged is kept for the whole process.
    first, changed = (AnswerCell("ex1-a", f"dh = '{outcome}' * {number}") for number in (1, 2))
    for cell in (first, first, changed):
        found = running_notebook.Lesson({}, (cell,), ATOMIC).verdicts()
        assert found["dh"].outcome is outcome
    assert len(judged) == times


@pytest.mark.slow
def test_a_notebook_from_before_needs_no_start(project: Path) -> None:
    script = {
        "setup": OLDER_SETUP,
        "inputs": INPUTS,
        "forward": FORWARD,
        "first try": CELLS["ex1-loss"].replace("-1", "-2"),
        "answer": CELLS["ex1-loss"],
        "check": "check('dlogprobs')",
        "wrong": CELLS["ex1-loss"].replace("-1", "-2"),
        "check wrong": "check('dlogprobs')",
    }
    outputs = execute(script, project)
    assert text(outputs["check"]) == f"✓ pass: dlogprobs | {EXACT}"
    assert text(outputs["check wrong"]).startswith("✗ fail: dlogprobs")


FIRST, SECOND = CELLS["ex1-loss"].rstrip().rsplit("\n", 1)
SOFTMAX = CELLS["ex1-softmax"].partition("\n")[2].splitlines()


@pytest.mark.slow
def test_of_a_cell_that_lost_its_first_line_no_old_line_is_shown(project: Path) -> None:
    line = "dhpreact = (1 + h**2) * dh"
    script = {"first": f"# answer: ex1-tanh\n{line}", "bare": line.replace("+", "-")}
    start = {"setup": SETUP, "inputs": INPUTS, "forward": FORWARD}
    one_cell = {key: {"cellId": "one"} for key in script}
    script |= {"check": 'check("dhpreact")'}
    said = text(execute({**start, **script}, project, metadata=one_cell)["check"])
    assert "Its cell no longer begins with `# answer: ex1-tanh`. Put that line back" in said
    assert said.startswith("… to do: dhpreact")
    assert line not in said
    assert "sign" not in said


FIRST_LINE, _, SOFTMAX_LINES = CELLS["ex1-softmax"].partition("\n")
AUTOGRAD = SOFTMAX_LINES.replace("(1.0 / probs) * dlogprobs", "torch.autograd.grad(loss, probs)[0]")
SPOILING = SOFTMAX_LINES.replace("dprobs = ", "dlogprobs /= probs\ndprobs = dlogprobs  # ")


@pytest.fixture(scope="module")
def one_cell() -> dict[str, list[Any]]:
    """What is said after runs of one cell, as JupyterLab makes them."""
    runs = {
        "another name": f"{FIRST_LINE}x\n{SOFTMAX_LINES}",
        "autograd": f"{FIRST_LINE}\n{AUTOGRAD}",
        "slip": f"{FIRST_LINE}\n{SOFTMAX_LINES}".replace("dprobs =", "dprob ="),
        "timed": f"{FIRST_LINE}\n%time {SOFTMAX_LINES}",
        "no more": f"{FIRST_LINE}\nx = 1",
        "spoiling": f"{FIRST_LINE}\n{SPOILING}",
        "spoiling again": f"{FIRST_LINE}\n{SPOILING}",
        "changing": f"{CELLS['ex1-softmax']}\nprobs = probs * 2",
        "mended": CELLS["ex1-softmax"],
    }
    script = {"setup": SETUP, "inputs": INPUTS, "forward": FORWARD, "loss": CELLS["ex1-loss"]}
    keys = {"setup": "s", "inputs": "i", "forward": "f", "loss": "l"}
    for key, source in runs.items():
        script |= {f"run {key}": source, key: 'check("dprobs", "dcounts")'}
        keys |= {f"run {key}": "one", key: "check"}
    return execute(script, PROJECT, metadata={key: {"cellId": one} for key, one in keys.items()})


@pytest.mark.slow
def test_an_earlier_run_under_another_first_line_lets_no_wrong_answer_pass(
    one_cell: dict[str, list[Any]],
) -> None:
    assert text(one_cell["another name"]).count("✓ pass: ") == 2
    said = text(one_cell["autograd"])
    assert said.startswith("⊘ refused: dprobs")
    assert "torch.autograd.grad" in said


@pytest.mark.slow
def test_a_slip_in_the_name_that_is_assigned_is_asked_for(one_cell: dict[str, list[Any]]) -> None:
    first, second, *_ = text(one_cell["slip"]).splitlines()
    assert first == "… to do: dprobs"
    assert second == "  ex1-softmax assigns `dprob`. Did you mean `dprobs`?"
    assert "cells that begin with" not in text(one_cell["slip"])


def test_a_line_that_is_timed_is_an_answer(one_cell: dict[str, list[Any]]) -> None:
    assert text(one_cell["timed"]).count("✓ pass: ") == 2


def test_an_answer_that_spoils_what_it_was_handed_is_told_at_once(
    one_cell: dict[str, list[Any]],
) -> None:
    first, again = text(one_cell["spoiling"]), text(one_cell["spoiling again"])
    assert "✓ pass: dprobs | exact" in first
    assert "✓ pass, run again: dprobs" in again
    for said in (first, again):
        assert "fail: dlogprobs (ex1-softmax, line 2)\n    dlogprobs /= probs" in said
        assert "`dlogprobs` is right when it is assigned; this line changes it." in said


def test_what_an_answer_changed_before_it_was_mended_is_not_held_against_it(
    one_cell: dict[str, list[Any]],
) -> None:
    assert "Your line `probs = probs * 2` changes the notebook's `probs`" in (
        text(one_cell["changing"])
    )
    said = text(one_cell["mended"])
    assert "The notebook's `probs` is not what the forward pass makes of its inputs now" in said
    assert "Your line" not in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "metadata"),
    [
        (
            {
                "magic": f"%%time\n{CELLS['ex1-loss']}",
                "remark": f"# mine\n\n{CELLS['ex1-softmax']}",
                "first try": "# answer: ex1-max\ndnorm_logits = 2 * dcounts",
                "one more": CELLS["ex1-max"],
                "first half": "# answer: ex1-linear2\ndh = dlogits @ W2.T",
                "second half": "# answer: ex1-linear2\ndW2 = h.T @ dlogits\ndb2 = dlogits.sum(0)",
            },
            None,
        ),
        (
            {
                "first half": FIRST,
                "second half": SECOND,
                **{f"piece {number}": line for number, line in enumerate(SOFTMAX)},
                "again": CELLS["ex1-max"],
            },
            {
                "first half": "ex1-loss",
                "second half": "ex1-loss",
                **{f"piece {number}": "ex1-softmax" for number in range(len(SOFTMAX))},
                "again": "ex1-max",
            },
        ),
    ],
    ids=["comments", "metadata"],
)
def test_check_and_the_command_go_by_one_rule(
    script: dict[str, str],
    metadata: dict[str, str] | None,
    project: Path,
    tmp_path: Path,
    runner: Runner,
) -> None:
    tags = {
        key: {"nbgrader": {"grade_id": grade_id, "solution": True}}
        for key, grade_id in (metadata or {}).items()
    }
    start = {"setup": SETUP, "inputs": INPUTS, "forward": FORWARD}
    outputs = execute({**start, **script, "check": "check()"}, project, metadata=tags)
    notebook = nbformat.v4.new_notebook()
    for key, source in script.items():
        notebook.cells.append(nbformat.v4.new_code_cell(source, metadata=tags.get(key, {})))
    nbformat.write(notebook, tmp_path / "notebook.ipynb")
    submission = read_submission(tmp_path / "notebook.ipynb", COURSE)
    report = grade(NOTEBOOKS[submission.notebook], submission.cells, runner)
    words = named(text(outputs["check"]))
    assert words == {verdict.name: wording.word(verdict.outcome) for verdict in report.verdicts}
    assert [words[name] for name in ATOMIC.gradients[:6]] == ["pass"] * 6


@pytest.mark.slow
def test_importing_it_starts_and_registers_nothing(project: Path) -> None:
    code = (
        "shell = get_ipython()\n"
        "before = [len(c) for c in shell.events.callbacks.values()]\n"
        "import grader.notebook.lesson, grader.notebook.training.lesson\n"
        "import psutil\n"
        "after = [len(c) for c in shell.events.callbacks.values()]\n"
        "before == after, len(psutil.Process().children())"
    )
    start = "import grader; grader.start_lesson(); grader.start_lesson()\n"
    count = "len(psutil.Process().children()), len(shell.events.callbacks['pre_run_cell'])"
    outputs = execute({"import": code, "started": f"{start}{count}"}, project)
    assert outputs["import"][-1].data == {"text/plain": "(True, 0)"}
    assert outputs["started"][-1].data == {"text/plain": "(1, 1)"}


@pytest.mark.slow
def test_the_first_check_says_what_it_waits_for(project: Path) -> None:
    """To a person; the card takes the place of the line."""
    as_person = "get_ipython().get_parent()['content']['allow_stdin'] = True\n"
    script = {
        "setup": SETUP,
        "inputs": INPUTS,
        "forward": FORWARD,
        "loss": CELLS["ex1-loss"],
        "first check": f"{as_person}print('mine')\ncheck('dlogprobs')\nprint('more')",
        "second check": f"{as_person}print('mine')\ncheck('dlogprobs')",
    }
    outputs = execute(script, project)
    # The line and what stands above it are gone as soon as the card is there.
    assert text(outputs["first check"]) == f"✓ pass: dlogprobs | {EXACT}more\n"
    assert text(outputs["second check"]) == f"mine\n✓ pass: dlogprobs | {EXACT}"


@pytest.mark.slow
def test_the_set_up_cell_says_which_notebook_it_is_and_an_edited_forward_cell_is_noticed(
    project: Path,
) -> None:
    tensors = "C, W1, b1, bngain, bnbias, W2, b2"
    script = {
        "setup": SETUP.replace("start_lesson()", 'start_lesson(notebook="03_fused_batchnorm")'),
        "gradient": "check('dmu')",
        "board": "board()",
        "inputs": f"{INPUTS}for one in ({tensors}): one.requires_grad_()",
        "forward": FORWARD.replace("counts_sum**-1", "1 / counts_sum  # as at school")
        + "\nfor one in (counts_sum, counts_sum_inv, probs, logprobs): one.retain_grad()\n"
        "loss.backward()",
        "loss": CELLS["ex1-loss"],
        "softmax": CELLS["ex1-softmax"],
        "check": "check('dprobs', 'dcounts_sum')",
        "forward again": f"{FORWARD}\nn = 31",
        "check n": "check('dprobs')",
    }
    outputs = execute(script, project)
    undefined = "hprebn, bngain, bnbias and dhpreact are not defined"
    assert text(outputs["gradient"]).startswith(undefined)
    assert text(outputs["board"]).startswith("0 of 6 points. ")
    head, message, right, inverse = text(outputs["check"]).splitlines()
    assert head == "↻ forward pass"
    assert message.startswith("  Your notebook has `counts_sum_inv = 1 / counts_sum` where the")
    assert right == f"✓ pass: dprobs | {EXACT}"
    assert inverse.startswith("✓ pass: dcounts_sum | exact: False | approximate: True")
    assert "The notebook's `n` is not what the forward pass makes" in text(outputs["check n"])


def test_outside_of_a_notebook_there_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    check("dh")
    board()
    heat_map("dh")
    nudge("dh", 0, 0)
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert len(lines) == 4
    assert all("`grader check`" in line for line in lines)


def verdict(name: str, outcome: Outcome) -> Verdict:
    comparison = Comparison(name, None, None, None, None, None)
    return Verdict(name, outcome, comparison, Check.RIGHT, Check.RIGHT)


@pytest.mark.parametrize(
    ("value", "strict"), [(None, False), ("", False), ("0", False), ("1", True), ("true", True)]
)
def test_what_turns_it_on(monkeypatch: pytest.MonkeyPatch, value: str | None, strict: bool) -> None:
    monkeypatch.delenv("GRADER_STRICT", raising=False)
    if value is not None:
        monkeypatch.setenv("GRADER_STRICT", value)
    assert is_strict() is strict


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.PASS])
def test_whatever_does_not_pass_is_named(outcome: Outcome) -> None:
    right, other = verdict("dh", Outcome.PASS), verdict("dW2", outcome)
    with pytest.raises(NotEveryGradientPasses, match=r"^Not every .* passes: dW2 \([a-z ]+\)\.$"):
        insist([right, other])


def test_what_passes_is_let_pass() -> None:
    insist([verdict("dh", Outcome.PASS)])


def test_a_notebook_shows_the_sentence_alone() -> None:
    assert NotEveryGradientPasses("Not yet.")._render_traceback_() == ["Not yet."]


IN_PLACE = {
    "ex1": "# answer: ex1-softmax\nprobs[range(n), Yb] -= 1\nprobs /= n\ndlogits = probs * 1\n",
    "ex2": "# answer: ex2-dlogits\nlogits.exp_()\nlogits /= logits.sum(1, keepdim=True)\n"
    "logits[range(n), Yb] -= 1\ndlogits = logits / n\n",
    "ex3": "# answer: ex3-xhat\ndhpreact *= bngain\ndxhat = dhpreact * 1\n",
}
"""Right answers that write into what the notebook gives them."""


@pytest.fixture(scope="module")
def in_place() -> dict[str, list[Any]]:
    """Each exercise's cells run twice in a row, then once more after the forward pass."""
    checks = {"ex1": "check('dlogits')", "ex2": "check('dlogits')", "ex3": "check('dxhat')"}
    forwards = {
        "ex1": INPUTS + FORWARD,
        "ex2": "logits = 3 * torch.randn(32, 27)",
        "ex3": "hprebn, dhpreact = torch.randn(32, 64), torch.randn(32, 64)\n"
        + body_source(NOTEBOOKS["03_fused_batchnorm"][0].forward),
    }
    script = {"setup": SETUP}
    for exercise, answer in IN_PLACE.items():
        script |= {
            f"{exercise} forward": forwards[exercise],
            f"{exercise} answer": answer,
            f"{exercise} check": checks[exercise],
            f"{exercise} answer again": answer,
            f"{exercise} check again": checks[exercise],
            f"{exercise} forward again": forwards[exercise],
            f"{exercise} answer after it": answer,
            f"{exercise} check after it": checks[exercise],
        }
    script |= {"another": "# answer: ex2s-smoothing\n", "from another": "check('dlogits')"}
    one_cell = {key: {"cellId": source[:20]} for key, source in script.items()}
    return execute(script, PROJECT, metadata=one_cell)


@pytest.mark.slow
def test_a_gradient_of_the_notebooks_other_exercise_is_found(
    in_place: dict[str, list[Any]],
) -> None:
    assert named(text(in_place["from another"])) == {"dlogits": "pass"}


@pytest.mark.slow
@pytest.mark.parametrize("exercise", IN_PLACE)
def test_an_answer_that_changes_the_forward_pass_passes_while_it_is_fresh(
    in_place: dict[str, list[Any]], exercise: str
) -> None:
    for key in ("check", "check after it"):
        head, message, _, line = text(in_place[f"{exercise} {key}"]).splitlines()
        # An input that has changed gives other gradients.
        again = "" if exercise == "ex1" else ", run again"
        assert line.startswith(f"✓ pass{again}: d")
        # It is told at once what will be otherwise when it runs again.
        assert head == "↻ forward pass"
        assert "Your line `" in message
        assert "changes the notebook's `" in message


@pytest.mark.parametrize(
    ("exercise", "line", "name", "made"),
    [
        ("ex1", "probs[range(n), Yb] -= 1", "probs", "probs = counts * counts_sum_inv"),
        ("ex2", "logits.exp_()", "logits", "logits = 3 * torch.randn(32, 27)"),
        ("ex3", "dhpreact *= bngain", "dhpreact", "hprebn, dhpreact = torch.randn(32, 64), torch"),
    ],
)
def test_run_again_it_is_told_what_it_changes_and_what_to_run(
    in_place: dict[str, list[Any]], exercise: str, line: str, name: str, made: str
) -> None:
    _, message, hint, head = text(in_place[f"{exercise} check again"]).splitlines()
    assert head.startswith("✓ pass, run again: d")
    assert f"Your line `{line}` changes the notebook's `{name}`, so that" in message
    assert f"run the cells from the one with `{made}" in hint
