import re

import pytest
from nbformat import NotebookNode

from grader.authoring.blank import fill, make_blank, split_answers, with_placeholders
from grader.authoring.source import SourceError, read_source

HINTS = {"ex1": {name: ["one", "two", "three"] for name in ("da", "db", "dc")}}
SOURCE = """# %% [markdown]
# {{ hints: da }}
# {{ hints: db }}
# {{ hints: dc }}

# %%
# answer: ex1-first
n = 32
### BEGIN SOLUTION
helper = upstream / n
da = helper * 2
db = helper.sum(0)
da += db
### END SOLUTION
print(n)

# %%
# check: ex1-first
check("da", "db")

# %%
# answer: ex1-second
def backward():
    ### BEGIN SOLUTION
    dc = da @ db.T
    ### END SOLUTION
    return dc

# %%
# check: ex1-second
check("dc")
"""


def solution(source: str = SOURCE) -> NotebookNode:
    return read_source(source, "01_toy", "https://github.com/a/b", HINTS)


def sources(notebook: NotebookNode) -> dict[str, str]:
    return {cell["id"]: cell.source for cell in notebook.cells}


TRY = """
# %%
# try: ex1-function
class Layer:
    def backward(self):
        ### BEGIN SOLUTION
        da = 1
        ### END SOLUTION
        return da
"""


def test_a_try_becomes_a_blank_that_nobody_grades() -> None:
    *_, cell = make_blank(solution(SOURCE + TRY)).cells
    assert cell.source == (
        "# try: ex1-function\nclass Layer:\n    def backward(self):\n"
        "        da = ...  # your turn\n        return da"
    )
    assert "nbgrader" not in cell.metadata


@pytest.mark.parametrize(
    ("solved", "blank"),
    [
        (
            "    total = 1\n    ### END SOLUTION\n    return total",
            "    total = ...  # your turn\n    return total",
        ),
        ("    helper = 1\n    return helper\n    ### END SOLUTION", "    ...  # your turn"),
    ],
)
def test_a_function_to_try_keeps_a_body_and_the_names_that_it_needs(
    solved: str, blank: str
) -> None:
    head = "# try: ex1-sum\ndef count(a):\n"
    source = f"\n# %%\n{head}    ### BEGIN SOLUTION\n{solved}\n"
    *_, cell = make_blank(solution(SOURCE + source)).cells
    assert cell.source == head + blank


def test_solutions_become_placeholders() -> None:
    blank = sources(make_blank(solution()))
    assert blank["ex1-first"] == (
        "# answer: ex1-first\nn = 32\nda = ...  # your turn\ndb = ...  # your turn\nprint(n)"
    )
    assert blank["ex1-second"] == (
        "# answer: ex1-second\ndef backward():\n    dc = ...  # your turn\n    return dc"
    )


def test_the_blank_has_nothing_run_and_keeps_ids_and_metadata() -> None:
    notebook = solution()
    notebook.cells[1].execution_count = 3
    notebook.cells[1].outputs = [{"output_type": "stream", "name": "stdout", "text": "32"}]
    blank = make_blank(notebook)
    assert blank.cells[1].outputs == []
    assert blank.cells[1].execution_count is None
    assert [(c["id"], c.metadata) for c in blank.cells] == [
        (c["id"], c.metadata) for c in notebook.cells
    ]
    assert notebook.cells[1].execution_count == 3, "the solution is left as it was"


@pytest.mark.parametrize(
    "telling",
    [
        "# One could say da = helper*2 here.",
        "# Multiply: `helper.sum( 0 )`.",
        "#     dc = da @ db.T",
    ],
)
def test_a_copy_that_tells_a_solution_is_refused(telling: str) -> None:
    with pytest.raises(SourceError, match=r"tells the solution `.*`, in the cell that begins"):
        make_blank(solution(SOURCE.replace("# {{ hints: da }}", telling + "\n# {{ hints: da }}")))


def test_what_the_forward_pass_says_is_no_secret() -> None:
    forward = "root = torch.sqrt(h + 1)"
    source = SOURCE.replace("da += db", forward) + f"\n# %%\n{forward}\n"
    with pytest.raises(SourceError, match=r"tells the solution `root = torch\.sqrt"):
        make_blank(solution(source))
    assert make_blank(solution(source), public=[forward])


def test_a_name_alone_tells_no_solution() -> None:
    source = SOURCE.replace("da += db", "da += dnorm_logits") + "\n# %%\nprint(dnorm_logits)\n"
    assert make_blank(solution(source))


def test_fill_puts_each_answer_into_its_cell() -> None:
    answers = "# my notes\n# answer: ex1-first\nda = 1\ndb = 2\n\n# answer: ex1-second\ndc = 3\n"
    filled = sources(fill(make_blank(solution()), answers))
    assert filled["ex1-first"] == "# answer: ex1-first\nda = 1\ndb = 2"
    assert filled["ex1-second"] == "# answer: ex1-second\ndc = 3"


def test_fill_drops_the_placeholders_of_what_is_answered_elsewhere() -> None:
    filled = sources(fill(make_blank(solution()), "# answer: ex1-second\ndb = dc = 3"))
    assert "da = ..." in filled["ex1-first"]
    assert "db = ..." not in filled["ex1-first"]


def test_fill_takes_answers_with_a_syntax_error() -> None:
    filled = sources(fill(make_blank(solution()), "# answer: ex1-second\ndc = = 3"))
    assert filled["ex1-second"].endswith("dc = = 3")
    assert "da = ..." in filled["ex1-first"]


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ("da = 1", "the answers have no line like `# answer: ex1-softmax`."),
        ("# answer: ex9-x\n", "there is no answer cell ex9-x; there are ex1-first, ex1-second."),
        ("# answer: ex1-a\n1\n# answer: ex1-a\n2", "the answers give the cell ex1-a twice."),
    ],
)
def test_answers_that_do_not_fit(answers: str, sentence: str) -> None:
    with pytest.raises(SourceError, match=re.escape(sentence)):
        fill(make_blank(solution()), answers)


def test_split_answers_keeps_the_comment_that_names_the_cell() -> None:
    assert split_answers("# answer: ex1-a\n1\n\n\n# answer: ex1-b\n2\n") == {
        "ex1-a": "# answer: ex1-a\n1",
        "ex1-b": "# answer: ex1-b\n2",
    }


def test_placeholders_stand_before_the_solutions() -> None:
    cells = sources(solution())
    assert with_placeholders(cells["ex1-second"], ["dc"]) == cells["ex1-second"].replace(
        "    ### BEGIN", "    dc = ...  # your turn\n    ### BEGIN"
    )
