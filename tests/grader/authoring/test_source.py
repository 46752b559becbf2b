import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from corpus.readers.lecture_course import ATOMIC
from grader.authoring.source import (
    Role,
    SourceError,
    assigned_gradients,
    checked_gradients,
    colab_badge,
    read_source,
    role_of,
    solution_regions,
)
from grader.program.parse import parse_program

REPOSITORY = "https://github.com/somebody/somewhere"
BADGE = colab_badge(REPOSITORY, "notebooks/01_toy")
HINTS = {"ex1": {"dh": ["nudge", "push", "shove"], "dlogits": ["a", "b", "$c$"]}}
SOURCE = """# %% [markdown]
# # A notebook
# {{ colab }}

# %% tags=["data-dependent"]
requirement = "git+{{ repository }}"
print(f"{requirement} {{ this is Python }}")

# %% [markdown]
# {{ hints: dlogits }}
#
# {{ hints: dh }}

# %%
# answer: ex1-linear
### BEGIN SOLUTION
dlogits = logits * 2
dlogits += 1
scratch = dlogits.sum()
dh = scratch * W
### END SOLUTION

# %%
# check: ex1-linear
check("dlogits", "dh")
"""


def read(source: str = SOURCE) -> nbformat.NotebookNode:
    return read_source(source, "01_toy", REPOSITORY, HINTS, BADGE)


def test_cells_are_those_of_the_text() -> None:
    kinds = [cell.cell_type for cell in read().cells]
    assert kinds == ["markdown", "code", "markdown", "code", "code"]


def test_the_forward_lines_of_an_answer_stand_right_above_it() -> None:
    steps = parse_program(ATOMIC.forward).steps
    notebook = read_source(SOURCE, "01_toy", REPOSITORY, HINTS, forward={"ex1": steps})
    text, answer, _ = notebook.cells[2:]
    assert answer.source.startswith("# answer: ex1-linear")
    assert text.source.endswith(
        "</details>\n\n<p></p>\n\nFrom the forward pass:\n\n```python\n"
        "logits = h @ W2 + b2\n"
        "logit_maxes = logits.max(1, keepdim=True).values\n"
        "norm_logits = logits - logit_maxes\n```"
    )


def test_templates_are_expanded() -> None:
    title, install, hints, *_ = read().cells
    assert BADGE in title.source
    assert 'requirement = "git+https://github.com/somebody/somewhere"' in install.source
    assert "{{ this is Python }}" in install.source
    folded = (
        "<details>\n<summary>Hint for <code>dlogits</code></summary>\n\na\n\n"
        "<details>\n<summary>A second hint</summary>\n\nb\n\n"
        "<details>\n<summary>A third hint</summary>\n\n$c$\n\n"
        "</details>\n\n</details>\n\n</details>"
    )
    assert hints.source.startswith(folded)
    assert hints.source.count("<summary>Hint for") == 2
    # A text that follows keeps its distance from the last hint.
    assert hints.source.count("</details>\n\n<p></p>\n") == 1
    assert hints.source.endswith("</details>")


def test_badge_opens_the_notebook_of_this_repository() -> None:
    place = "colab.research.google.com/github/somebody/somewhere/blob/main/notebooks/01_toy.ipynb"
    assert place in BADGE


def test_graded_cells_carry_nbgrader_metadata() -> None:
    *_, answer, check = read().cells
    assert answer.metadata.nbgrader == {
        "schema_version": 3,
        "grade_id": "ex1-linear",
        "grade": False,
        "locked": False,
        "solution": True,
        "task": False,
    }
    assert check.metadata.nbgrader == {
        "schema_version": 3,
        "grade_id": "ex1-linear-check",
        "grade": True,
        "locked": True,
        "points": 2,
        "solution": False,
        "task": False,
    }


def test_tags_are_kept_and_nothing_else_of_the_text_format() -> None:
    cells = read(SOURCE.replace("\n\n# %%", "\n\n\n\n# %%")).cells
    assert cells[1].metadata == {"tags": ["data-dependent"]}
    assert cells[2].metadata == {}


def test_the_badge_of_a_course_in_a_folder_leads_there() -> None:
    folder = "https://github.com/somebody/somewhere/tree/next/courses/norms"
    assert (
        "colab.research.google.com/github/somebody/somewhere/blob/next/courses/norms/01_toy.ipynb)"
        in colab_badge(folder, "01_toy")
    )


def test_a_cell_with_a_title_is_folded_in_jupyterlab_and_on_colab() -> None:
    titled = read(SOURCE.replace("requirement =", "# @title Run it\nrequirement =", 1)).cells[1]
    assert titled.metadata.jupyter.source_hidden
    assert titled.metadata.cellView == "form"
    assert titled.metadata.tags[-1] == "hide-input"
    assert "jupyter" not in read().cells[1].metadata


def test_a_cell_that_only_draws_a_figure_gets_a_title_and_is_folded() -> None:
    cells = (read(f"# %%\n{code}").cells[0] for code in ("figures.one_step()", "x = figures.f()"))
    figure, other = cells
    assert figure.source == "# @title Figure: one step\nfigures.one_step()"
    assert figure.metadata.jupyter.source_hidden
    assert other.source == "x = figures.f()"
    assert "jupyter" not in other.metadata


def test_reading_twice_gives_the_same_bytes() -> None:
    assert nbformat.writes(read()) == nbformat.writes(read())


def test_an_edit_changes_the_id_of_its_own_cell_only() -> None:
    before = [cell["id"] for cell in read().cells]
    after = [cell["id"] for cell in read(SOURCE.replace("# A notebook", "# A book")).cells]
    assert before[0] != after[0]
    assert before[1:] == after[1:]
    assert before[3:] == ["ex1-linear", "ex1-linear-check"]


def test_equal_cells_have_different_ids() -> None:
    ids = [cell["id"] for cell in read(SOURCE + "\n# %%\n1 + 1\n\n# %%\n1 + 1\n").cells]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("find", "replace", "sentence"),
    [
        ("### END SOLUTION\n", "", "in ex1-linear, `### BEGIN SOLUTION` stands without"),
        ("### BEGIN SOLUTION\n", "", "in ex1-linear, `### END SOLUTION` stands without"),
        (
            "dlogits += 1\n",
            "### BEGIN SOLUTION\n",
            "in ex1-linear, `### BEGIN SOLUTION` stands inside a solution",
        ),
        ("dlogits += 1", "dlogits +=", "in ex1-linear, invalid syntax"),
        ("{{ hints: dh }}", "{{ hints: dhh }}", "no cell says {{ hints: dh }}"),
        (
            "{{ hints: dh }}",
            "{{ hints: dh }} {{ hints: dW }}",
            "dW has no hints in [ex1] of hints.toml",
        ),
        ("{{ colab }}", "{{ collab }}", "{{ collab }} is not known"),
        ("# answer: ex1-linear", "# Answer ex1-linear", "stands in a cell that does not begin"),
        ("# check: ex1-linear", "#check: ex1-linear", "is nearly the first line of a graded cell"),
        (
            "# check: ex1-linear",
            "# check: ex1-other",
            "ex1-linear lacks its answer cell or its check",
        ),
        (
            '"dlogits", "dh"',
            '"dlogits", "dh", "dW"',
            "the check ex1-linear names dW, which no solution assigns",
        ),
        ("dlogits", "dother", "dother has no hints"),
        ('check("dlogits", "dh")', "check()", "no solution that assigns a gradient"),
        (
            "# %%\n# check",
            "# %%\n# check: ex1-linear\ncheck('dh')\n\n# %%\n# check",
            "`# check: ex1-linear` is given to 2 cells",
        ),
    ],
)
def test_disorder_is_refused_with_a_sentence(find: str, replace: str, sentence: str) -> None:
    assert find in SOURCE
    with pytest.raises(SourceError) as caught:
        read(SOURCE.replace(find, replace))
    assert sentence in str(caught.value)


def test_three_hints_are_required() -> None:
    for hints in (["a", "b"], ["a", "b", " "]):
        with pytest.raises(SourceError, match=r"dh needs 3 hints, none of them empty"):
            read_source(SOURCE, "01_toy", REPOSITORY, {"ex1": {**HINTS["ex1"], "dh": hints}})


def test_role_of() -> None:
    assert role_of(new_code_cell("# answer: ex1-tanh\ndh = 1")) == Role("answer", "ex1-tanh", "ex1")
    assert role_of(new_code_cell("x = 1\n# answer: ex1-tanh")) is None
    assert role_of(new_code_cell("")) is None
    assert role_of(new_markdown_cell("# answer: ex1-tanh")) is None


def test_checked_gradients() -> None:
    assert checked_gradients('# check: ex1-a\ncheck("db", "da")\nprint("dc")') == ("db", "da")


def test_solution_regions() -> None:
    source = "a\n### BEGIN SOLUTION\nb\n### END SOLUTION\nc\n### BEGIN SOLUTION\n### END SOLUTION"
    assert solution_regions(source) == [("b",), ()]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["da = 1", "db = 2", "da += db"], ["da", "db"]),
        (["da, (db, x) = 1, (2, 3)"], ["da", "db"]),
        (["    for k in range(3):", "        db = k", "    da = db"], ["db", "da"]),
        (["da[0] = 1"], []),
        (["print(da)", "dx = 1"], []),
    ],
)
def test_assigned_gradients(lines: list[str], expected: list[str]) -> None:
    assert assigned_gradients(lines, ["da", "db"]) == expected
