"""What in an answer a human should look at."""

from __future__ import annotations

import pytest

from corpus.readers.one_fault import corpus
from corpus.readers.places import ANSWERS
from grader.answer.parse import AnswerCell, parse_answer
from grader.answer.suspicion import find_suspicions
from tests.helpers.verdicts import answer_cells

RIGHT_ANSWERS = sorted(ANSWERS.glob("*/right/*.py"))


def suspicions(source: str, cell: str = "ex1-loss") -> list[tuple[str, int]]:
    answer = parse_answer([AnswerCell(cell, source)])
    assert not answer.broken, answer.broken
    flags = (one.flag for one in find_suspicions(answer))
    return [(flag.kind, flag.place.line) for flag in flags if flag.place]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("module", "import os"),
        ("module", "import os.path as p"),
        ("module", "from subprocess import run"),
        ("module", "import torch.jit"),
        ("module", "from torch import jit"),
        ("module", "x = torch.os.environ"),
        ("module", "x = F.torch.sys"),
        ("module", "x = torch._make_dual(C, C)"),
        ("dunder", "import gc\nfor x in gc.get_objects(): x"),
        ("dunder", "from gc import get_referrers"),
        ("dunder", "x = C.__class__"),
        ("dunder", "x = (lambda: 0).__globals__"),
        ("dunder", "x = __builtins__"),
        ("dunder", 'x = getattr(C, "__class__")'),
        ("dunder", "exec(text)"),
        ("dunder", "x = eval(text)"),
        ("dunder", "run = exec"),
        ("dunder", 'x = __import__("math")'),
        ("table", f"x = torch.tensor({list(range(100))})"),
        ("table", f"x = 0x{'9' * 6000}"),
        ("table", f"x = {'ab' * 1000!r}"),
    ],
)
def test_what_no_gradient_needs_is_seen(kind: str, line: str) -> None:
    assert kind in {found for found, _ in suspicions(line)}


@pytest.mark.parametrize(
    "line",
    [
        "import numpy as np",
        "from functools import reduce",
        "import gc, threading, io\nfrom concurrent.futures import ThreadPoolExecutor\ngc.collect()",
        'torch.set_default_device("cpu")',
        "import matplotlib.pyplot as plt",
        "x = torch.softmax(logits, 1) - F.softmax(logits, 1)",
        'globals()["dh"] = dh',
        'x = open("f")',
        'x = getattr(h, "tanh")()',
        'def f(x, how="sum"): return getattr(x, how)(0)',
        "class A:\n    def __init__(self, **all): [setattr(self, k, v) for k, v in all.items()]",
        "class A(dict):\n    __getattr__ = dict.__getitem__",
        "def f(self): return self.__class__.__name__",
        "class A:\n    def __init__(self): self.x = 1\n    def __call__(self, d): return d",
        "class A: pass\nA.slope = 1",
        "import time, json\nprint(torch.__version__)",
        "class A(torch.nn.Module):\n    def forward(self, x): return x",
        "node.slope = 1",
        'print("dh", dh.shape, __name__)',
        "x = torch.tensor([1.0, 2.0, 3.0])",
        "def f(x): return x\ndef g(x): return x\ny = f(x) - g(x)",
        "dbndiff = bnvar_inv * dbnraw - dbnraw.mean(0)",
        'assert C.size() == (vocab_size, 10), "' + "a" * 300 + '"',
        '"""' + "a" * 9000 + '"""',
    ],
)
def test_what_a_right_answer_may_do_is_not(line: str) -> None:
    assert suspicions(line) == []


def test_a_right_answer_raises_none() -> None:
    for path in RIGHT_ANSWERS:
        cells = answer_cells(path.read_text(encoding="utf-8"))
        assert cells
        assert find_suspicions(parse_answer(cells)) == []


@pytest.mark.slow
def test_mistakes_raise_none() -> None:
    faults = corpus()
    assert len(faults) > 1000
    for fault in faults:
        assert find_suspicions(parse_answer(answer_cells(fault.source))) == [], fault.source


def test_flags_stand_in_the_order_of_the_answer_each_with_its_line() -> None:
    answer = parse_answer(
        [
            AnswerCell("ex1-loss", "x = 1\n\nimport os, sys"),
            AnswerCell("ex1-C", "if x:\n    exec(y)\nexec(z)"),
        ]
    )
    flags = [one.flag for one in find_suspicions(answer)]
    assert [(f.kind, f.place.cell, f.place.line) for f in flags if f.place] == [
        ("module", "ex1-loss", 3),
        ("dunder", "ex1-C", 2),
        ("dunder", "ex1-C", 3),
    ]
    assert flags[0].message == "`import os` and `import sys`: no gradient needs this module."
