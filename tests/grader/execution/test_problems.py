"""The sentences for statements that did not run to their end."""

import pytest

from grader.execution.problems import describe_problem, find_incident
from grader.verdict import because
from grader.worker.results import REFUSED, Problem
from grader.worker.terms import Limits

LIMITS = Limits(statement_seconds=3.0, total_seconds=40.0, memory_bytes=2**31)


@pytest.mark.parametrize(
    ("kind", "message", "sentence"),
    [
        ("TimeLimit", "", "The answer was still at this line after 3 seconds."),
        ("Gone", "ended it all", "This line ended it all."),
        ("SystemExit", "0", "This line asked Python to stop."),
        ("KeyboardInterrupt", "", "This line asked Python to stop."),
        ("MemoryError", "", "This line asked for more memory than the 2 GB an answer may use."),
        (
            "RuntimeError",
            "DefaultCPUAllocator: can't allocate memory: you tried",
            "This line asked for more memory than the 2 GB an answer may use.",
        ),
        (
            "TypeError",
            "sqrt(): argument 'input' (position 1) must be Tensor, not int",
            "This line raised TypeError: sqrt(): argument 'input' (position 1) must be Tensor, not"
            " int. Of a plain number `n`, the root is `n**0.5`.",
        ),
        (
            "TypeError",
            "exp(): argument 'input' (position 1) must be Tensor, not float",
            "This line raised TypeError: exp(): argument 'input' (position 1) must be Tensor, not"
            " float. For a plain number there is `math.exp`.",
        ),
        (
            "TypeError",
            "only integer tensors of a single element can be converted to an index",
            "This line raised TypeError: only integer tensors of a single element can be converted"
            " to an index. Is there a `.max(...)` along an axis? It gives two tensors, `.values`"
            " and `.indices`.",
        ),
        (
            "ValueError",  # of `torch.tensor([one, another])` as well
            "only one element tensors can be converted to Python scalars",
            "This line raised ValueError: only one element tensors can be converted to Python"
            " scalars. Several numbers were taken for one: `math` and `float` take one, `torch` has"
            " the same functions for tensors; `torch.stack` puts a list of tensors together.",
        ),
        (
            "RuntimeError",
            "Class values must be smaller than num_classes.",
            "This line raised RuntimeError: Class values must be smaller than num_classes. An index"
            " is none of the columns: what does it count, and how many columns are there?",
        ),
        (
            "RuntimeError",
            "Tensors must have same number of dimensions: got 2 and 1",
            "This line raised RuntimeError: Tensors must have same number of dimensions: got 2 and"
            " 1. The one with fewer needs an axis of length 1: (n, 1), which `[:, None]` makes of"
            " (n,).",
        ),
        ("RuntimeError", "sizes differ.", "This line raised RuntimeError: sizes differ."),
        ("AssertionError", "", "This line raised AssertionError."),
        (
            "NotImplementedError",
            "\"bitwise_xor_cpu\" not implemented for 'Float'",
            "This line raised NotImplementedError: in Python `^` is no power, `**` is.",
        ),
        (
            "TypeError",
            "unsupported operand type(s) for ^: 'float' and 'int'",
            "This line raised TypeError: in Python `^` is no power, `**` is.",
        ),
        (
            "TypeError",
            "sum() got an unexpected keyword argument 'keep_dim'",
            "This line raised TypeError: sum() got an unexpected keyword argument 'keep_dim'."
            " PyTorch writes `keepdim`, in one word.",
        ),
        (
            "TypeError",
            "sum() takes at most 2 arguments (3 given)",
            "This line raised TypeError: sum() takes at most 2 arguments (3 given)."
            " This `sum` is Python's own; that of a tensor is `.sum(...)`, or `torch.sum`.",
        ),
        (
            "NameError",
            "name 'dprobs' is not defined",
            "This line raised NameError: name 'dprobs' is not defined.",
        ),
        (
            "NameError",
            "cannot access free variable 'd' where it is not associated with a value",
            "This line raised NameError: cannot access free variable 'd' where it is not associated"
            " with a value.",
        ),
    ],
)
def test_a_problem_is_a_sentence(kind: str, message: str, sentence: str) -> None:
    assert describe_problem(Problem(0, kind, message), LIMITS, {"dprobs"}).message == sentence


def test_one_second_is_no_plural() -> None:
    limits, late = Limits(1.0, 40.0, 2**31), Problem(0, "TimeLimit", "")
    assert (
        describe_problem(late, limits, {"dprobs"}).message
        == "The answer was still at this line after 1 second."
    )


@pytest.mark.parametrize("name", ["W3", "denominator", "d", "probs"])
def test_what_no_answer_cell_defines_is_missing_there(name: str) -> None:
    said = f"name '{name}' is not defined"
    found = describe_problem(Problem(0, "NameError", said), LIMITS, {"dprobs"})
    assert found.message == f"This line raised NameError: {said}."
    assert (found.unbound, found.guess) == (name, because("unbound"))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("relu6", "`F.relu6`"),
        ("one_hot", "`F.one_hot`"),
        ("sqrt", "`torch.sqrt` (of a plain number, `math.sqrt`)"),
        ("dprob", "`dprobs`"),
        ("Probs", "`probs`"),
        ("Future", "`future`"),  # not torch.Future
        ("true", "`True`"),
    ],
)
def test_what_may_have_been_meant_is_asked(name: str, meant: str) -> None:
    said, known = f"name '{name}' is not defined", ["dprobs", "probs", "future"]
    found = describe_problem(Problem(0, "NameError", said), LIMITS, {"dprobs"}, known)
    assert found.message == f"This line raised NameError: {said}."
    assert found.guess == because("meant", meant=meant)


@pytest.mark.parametrize(
    ("message", "ending"),
    [
        ("got (keepdim=bool, ), but expected one of:", "got (keepdim=bool, )."),
        ("did you mean this?", "did you mean this?"),
        ("Permission denied: '/home/one/torch/a.py'", "Permission denied: 'a.py'."),
    ],
)
def test_a_message_ends_as_a_sentence_and_names_no_folder(message: str, ending: str) -> None:
    found = describe_problem(Problem(0, "OSError", message), LIMITS, ())
    assert found.message == f"This line raised OSError: {ending}"


# --- exceptions that a human should know of


@pytest.mark.parametrize(
    ("kind", "message", "expected"),
    [
        ("RuntimeError", REFUSED, "autograd"),
        ("ValueError", f"in f: {REFUSED}", "autograd"),
        ("MemoryError", "", "memory-limit"),
        ("RuntimeError", "DefaultCPUAllocator: can't allocate memory: you tried", "memory-limit"),
        ("PermissionError", "[Errno 13] Permission denied: '/x'", "denied"),
        ("BlockingIOError", "[Errno 11] Resource temporarily unavailable", "denied"),
        ("OSError", "[Errno 30] Read-only file system: '/x'", "denied"),
        ("OSError", "[Errno 101] Network is unreachable", "denied"),
    ],
)
def test_what_was_refused_at_run_time_is_said(kind: str, message: str, expected: str) -> None:
    incident = find_incident(Problem(0, kind, message))
    assert incident is not None
    assert incident[0] == expected
    assert incident[1].startswith("A statement ")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("NameError", "name 'dh' is not defined"),
        ("RuntimeError", "The size of tensor a (32) must match the size of tensor b (27)"),
        ("TypeError", "unsupported operand type(s)"),
        ("TimeLimit", ""),
    ],
)
def test_a_mistake_is_no_incident(kind: str, message: str) -> None:
    assert find_incident(Problem(0, kind, message)) is None
