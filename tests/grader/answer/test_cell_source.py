"""IPython's own lines are hidden from Python."""

import pytest

from grader.answer.cell_source import hide_magics


@pytest.mark.parametrize(
    ("source", "hidden"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if x:\n    !ls\ny = 1", "if x:\n    pass\ny = 1"),
        ("%%time\nx = 1", "pass\nx = 1"),
        ("!pip install \\\n    torch \\\n    rich\nx = 1", "pass\n\n\nx = 1"),
        ("%time x = 1 + \\\n    2\ny = 1", "x = 1 +      2\n\ny = 1"),
        ("x = (7\n% 3)", "x = (7\n% 3)"),
        ("x = !ls\ny = 1", "pass\ny = 1"),
        ("if y:\n    t = %timeit -o f(y)\nx = 1", "if y:\n    pass\nx = 1"),
        ("a, b = !ls *.py", "pass"),
        ("torch.sum?\nx = 1", "pass\nx = 1"),
        ("parts[0].sum??  \nx = 1", "pass\nx = 1"),
        ("?torch.sum\nx = 1", "pass\nx = 1"),
        ("x = y != z\nw = 'a'  # why?", "x = y != z\nw = 'a'  # why?"),
        ('x = """\ntorch.sum?\nt = %time\n"""', 'x = """\ntorch.sum?\nt = %time\n"""'),
    ],
)
def test_magics_are_passed_over_and_lines_keep_their_numbers(source: str, hidden: str) -> None:
    assert hide_magics(source) == hidden


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("  x = 1\n  if x:\n      y = 2", "x = 1\nif x:\n    y = 2"),
        ("\n\n    x = 1\n    %time y = 2", "\n\nx = 1\ny = 2"),
        (">>> x = 1\n>>> if x:\n...     y = 2\n", "x = 1\nif x:\n    y = 2\n"),
        ("# answer: ex1-max\n>>> x = 1\n>>> y = 2", "# answer: ex1-max\nx = 1\ny = 2"),
        ("In [3]: x = 1\n   ...: y = 2", "x = 1\ny = 2"),
    ],
)
def test_what_was_pasted_loses_its_prompts_and_its_indent(source: str, shown: str) -> None:
    assert hide_magics(source) == shown


@pytest.mark.parametrize(
    "source", ["x = 1\n  y = 2", "# a\n  x = 1", "dX = ...\n  y", "x = 1\n\n>>> y = 2", "    ", ""]
)
def test_where_ipython_takes_nothing_away_nothing_is(source: str) -> None:
    assert hide_magics(source) == source
