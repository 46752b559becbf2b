"""The folder that a file of forward functions becomes."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from grader.authoring.backward.table import ROWS
from grader.authoring.blank import make_blank
from grader.authoring.course import Layout, read_notebook
from grader.authoring.draft.exercise import rules
from grader.authoring.draft.write import as_comment, as_toml, course_texts, write_course
from grader.authoring.source import role_of
from grader.pictures import figures
from grader.program.course import read_course
from grader.user_error import UserError

FORWARDS = Path(__file__).with_name("forwards.py")

SEVERAL = """\
from typing import Annotated

import torch
import torch.nn.functional as F
from torch import Tensor

SMOOTHING = 0.1


def classify(
    x: Annotated[Tensor, "n, d"], W: Annotated[Tensor, "d, k"], Y: Annotated[Tensor, "n < k"]
) -> Tensor:
    n = x.shape[0]
    logits = x @ W
    logprobs = F.log_softmax(logits, 1) * (1 - SMOOTHING)
    loss = -logprobs[range(n), Y].mean()
    return loss


def dots(x: Annotated[Tensor, "n, d"], y: Annotated[Tensor, "n, d"], eps: float = 0.5):
    lengths = torch.einsum("nd,nd,nd->n", x, x, y)
    shifted = lengths + eps
    return shifted
"""


@pytest.fixture
def several(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "several_things.py"
    path.write_text(SEVERAL, encoding="utf-8")
    return course_texts(path)


def test_the_folder_is_a_course_whose_source_becomes_a_notebook(tmp_path: Path) -> None:
    folder = tmp_path / "norms"
    written = write_course(FORWARDS, folder)
    names = ["course.toml", "forward.py", "hints.toml", "source/01_rms_norm.py"]
    assert [path.relative_to(folder).as_posix() for path in written] == names
    course = read_course(folder)
    (outline,) = course.exercises
    assert (outline.prefix, outline.notebook) == ("rmsnorm1", "01_rms_norm")
    assert outline.gradients == ("dgain", "dxhat", "dinv", "dms", "dx")
    assert dict(outline.sizes) == {"n": 32, "d": 10}

    notebook = read_notebook(folder / "source/01_rms_norm.py", layout=Layout.of(course))
    blank = make_blank(notebook)
    answers = [cell.source for cell in blank.cells if cell.source.startswith("# answer:")]
    assert answers[0].splitlines()[1:] == ["dgain = ...  # your turn", "dxhat = ...  # your turn"]
    ids = [role.grade_id for cell in notebook.cells if (role := role_of(cell))]
    assert ids[::2] == ["rmsnorm1-out", "rmsnorm1-xhat", "rmsnorm1-inv", "rmsnorm1-ms"]
    whole = "\n".join(cell.source for cell in blank.cells)
    for said in (
        "# 1 · Rms norm, backwards",
        "Divide each row by the root of its mean square, then scale it.",
        "| `inv` | n, 1 | 32, 1 | `xhat` |",
        "`dout` stands for what arrives",
        "loss = (dout * out).sum()",
        'board("rmsnorm1")',
        "A **power** $x^p$ has the slope",
        "**`dx`** (n, d). More than one line reads `x`.",
        "<summary>Hint for <code>dms</code></summary>",
    ):
        assert said in whole
    assert whole.count("A **product** passes back") == 1, "a rule is told once"
    assert "You know already: product, copied axis." in whole


def test_several_functions_are_several_notebooks(several: dict[str, str]) -> None:
    exercises = tomllib.loads(several["course.toml"])["exercise"]
    assert [each["id"] for each in exercises] == ["classify1", "dots2"]
    assert exercises[0]["gradients"] == ["dlogprobs", "dlogits", "dx", "dW"]
    assert exercises[0]["sizes"] == {"n": 32, "d": 10, "k": 6}
    hints = tomllib.loads(several["hints.toml"])
    for each in exercises:
        assert list(hints[each["id"]]) == each["gradients"]
        assert {len(hints) for hints in hints[each["id"]].values()} == {3}
    first, second = several["source/01_classify.py"], several["source/02_dots.py"]
    assert "Y = torch.randint(k, (n,), generator=generator)" in first
    assert "SMOOTHING = 0.1" in first
    assert "import torch.nn.functional as F" in first
    assert "eps = 0.5" in second
    assert "SMOOTHING" not in second
    for source in (first, second):
        ast.parse(source)


def test_a_constant_is_no_exercise(tmp_path: Path) -> None:
    file = tmp_path / "masked.py"
    head = SEVERAL.partition("\n\n\n")[0]
    file.write_text(
        f'{head}\n\n\ndef masked(x: Annotated[Tensor, "n, n"]):\n'
        "    mask = torch.ones(x.shape[0], x.shape[0], dtype=x.dtype).tril()\n"
        "    shown = x * mask\n"
        "    return shown\n"
    )
    (exercise,) = tomllib.loads(course_texts(file)["course.toml"])["exercise"]
    assert exercise["gradients"] == ["dx"]


def test_what_cannot_be_derived_is_left_to_the_author(several: dict[str, str]) -> None:
    source = several["source/02_dots.py"]
    _, _, solution = source.partition("# answer: dots2-lengths\n")
    lines = solution.partition("### END SOLUTION")[0].splitlines()
    assert lines[1].startswith("# TODO: ")
    assert "torch.einsum" in lines[1]
    assert lines[2] == "dx = None"
    assert "dlengths = dshifted" in source


@pytest.mark.parametrize(
    "step", ["indices.float() * 2", "torch.ones(indices.shape).double() * indices.max()"]
)
def test_a_function_without_gradients_is_refused(step: str, tmp_path: Path) -> None:
    head = SEVERAL.partition("\n\n\n")[0]
    function = f'def f(indices: Annotated[Tensor, "n < k"]):\n    y = {step}\n    return y\n'
    path = tmp_path / "f.py"
    path.write_text(f"{head}\n\n\n{function}", encoding="utf-8")
    with pytest.raises(
        UserError, match="f, line 10, returns nothing that passes a gradient to its"
    ):
        course_texts(path)


def test_a_step_that_gives_nan_is_named_before_anything_is_written(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    last = SEVERAL.index("    loss")
    step = "    spread = (logprobs - 1).sqrt()\n    loss = spread.mean()\n    return loss\n"
    file.write_text(SEVERAL[:last] + step, encoding="utf-8")
    with pytest.raises(UserError) as error:
        course_texts(file)
    said = "classify: `spread = (logprobs - 1).sqrt()` gives NaN for some numbers. Inputs are drawn"
    assert str(error.value).startswith(said)


ATTENTION = """\
from typing import Annotated

from torch import Tensor


def scored(
    q: Annotated[Tensor, "n, d"],
    k: Annotated[Tensor, "m, d"],
    tau: Annotated[Tensor, "m"],
    shift: Annotated[Tensor, ""],
) -> Tensor:
    scores = q @ k.T / tau + shift
    a = scores.abs()
    low = a.clamp(max=1)
    rest = (a - low).exp()
    cost = low**2 + 3 * rest
    loss = cost.mean()
    return loss
"""


def test_a_draft_says_what_a_step_needs_once(tmp_path: Path) -> None:
    path = tmp_path / "scored.py"
    path.write_text(ATTENTION, encoding="utf-8")
    texts = course_texts(path)
    source = " ".join(texts["source/01_scored.py"].replace("\n# ", " ").split())
    assert "What arrives here is `drest`. You also need `dcost`, from before." in source
    abs_slope, exp_slope = (rules()["function"].slopes[name] for name in ("abs", "exp"))
    assert (source.count(exp_slope), source.count(abs_slope)) == (1, 1)
    assert source.index(exp_slope) < source.index("What arrives here is `da`.")
    assert source.index(abs_slope) > source.index("What arrives here is `da`.")
    assert source.count("dproduct = dscores / tau") == 1
    assert "q = torch.randn((n, d), generator=generator) / d**0.5" in source
    assert "shift = torch.randn((), generator=generator)\n" in texts["source/01_scored.py"]


def test_every_rule_has_its_text() -> None:
    functions = {row.name for row in ROWS if row.kind == "function"}
    assert rules()["function"].slopes.keys() == functions
    assert {row.kind for row in ROWS} <= rules().keys()
    for rule in rules().values():
        assert bool(rule.slopes) == (rule.name == "function of one number")
        assert not rule.figure or rule.figure in figures.__all__
        assert bool(rule.figure) == bool(rule.caption)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    for folder in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(UserError, match="is there already: name another with --out"):
            write_course(FORWARDS, folder)
    with pytest.raises(UserError, match=r"There is no file .*none\.py\."):
        write_course(tmp_path / "none.py", tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_texts_are_filled_and_tables_are_not() -> None:
    assert as_comment("a\nb\n\n\n| a |\n| b |\n") == "# a b\n#\n# | a |\n# | b |"
    assert max(map(len, as_comment("word " * 50).splitlines())) <= 100


@pytest.mark.parametrize("text", ["it's `x`", "ends with 'quotes'", "three ''' quotes", 'a "b" \\'])
def test_a_hint_is_toml(text: str) -> None:
    assert tomllib.loads(f"a = {as_toml(text)}") == {"a": text}
