"""What an answer may do to the process that runs it: nothing that costs another gradient."""

import subprocess
import sys

import pytest

from grader.answer import AnswerCell
from grader.exercises import ATOMIC
from grader.grading import grade_exercise
from grader.runner import Limits, Runner, WorkerLost
from grader.verdict import Outcome, Verdict
from tests.exercise_text import read_cells, right_answers
from tests.grader.conftest import Judge

LECTURE = right_answers()["lecture"]
DH = "dh = dlogits @ W2.T\n"


def with_dh(lines: str) -> str:
    assert LECTURE.count(DH) == 1
    return LECTURE.replace(DH, f"{lines}\n")


def assert_costs_only_dh(
    verdicts: dict[str, Verdict], sentence: str, line: int | tuple[int, ...]
) -> None:
    verdict = verdicts.pop("dh")
    assert verdict.outcome is Outcome.ERROR
    assert sentence in verdict.note
    assert verdict.place is not None
    assert verdict.place.cell == "ex1-linear2"
    # A loop is interrupted on whichever of its lines runs when the time is over.
    assert verdict.place.line in (line if isinstance(line, tuple) else (line,))
    assert {other.outcome for other in verdicts.values()} <= {Outcome.PASS, Outcome.CARRIED}
    assert verdicts["dlogits"].outcome is Outcome.PASS
    assert verdicts["db2"].outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("lines", "sentence", "line"),
    [
        ("while True: dh = 1", "This line did not end within 3 seconds.", 2),
        (
            "def forever():\n    x = 0\n    while True:\n        x += 1\ndh = forever()",
            "This line did not end within 3 seconds.",
            (4, 5),
        ),
        ("import time\ndh = time.sleep(3600)", "This line did not end within 3 seconds.", 3),
        (
            "while True:\n    try:\n        while True: dh = 1\n    except BaseException:\n"
            "        pass",
            "This line did not end within 3 seconds.",
            (2, 4),
        ),
        ("import sys\ndh = sys.exit()", "This line asked Python to stop.", 3),
        ("dh = exit()", "This line", 2),
        ("import os\ndh = os._exit(0)", "This line ended the Python process that ran it.", 3),
        ("import os\ndh = os.abort()", "This line ended the Python process that ran it.", 3),
        (
            "import os, signal\ndh = os.kill(os.getpid(), signal.SIGKILL)",
            "This line ended the Python process that ran it.",
            3,
        ),
        (
            "import ctypes\ndh = ctypes.string_at(0)",
            "This line ended the Python process that ran it.",
            3,
        ),
        (
            "dh = torch.zeros(50 * 10**9 // 4)",
            "This line asked for more memory than the 2 GB an answer may use.",
            2,
        ),
        (
            "dh = bytearray(50 * 10**9)",
            "This line asked for more memory than the 2 GB an answer may use.",
            2,
        ),
        (
            "dh = []\nwhile True: dh.append(torch.empty(10**8))",
            "This line asked for more memory than the 2 GB an answer may use.",
            3,
        ),
        ("def deep(n): return deep(n + 1)\ndh = deep(0)", "This line raised RecursionError", 2),
        ("class E(Exception):\n    def __str__(self): return 1\nraise E", "", 0),
    ],
)
def test_a_destructive_line_costs_only_its_gradient(
    lines: str, sentence: str, line: int | tuple[int, ...], judge_text: Judge
) -> None:
    verdicts = judge_text(with_dh(lines))
    if not sentence:
        # Nothing assigns dh: what raised made none of the gradients.
        assert verdicts["dh"].outcome is Outcome.TODO
        assert verdicts["db2"].outcome is Outcome.PASS
        return
    assert_costs_only_dh(verdicts, sentence, line)


def test_printing_a_lot_costs_nothing(judge_text: Judge) -> None:
    noisy = f"print('x' * 10**8)\nimport os; os.write(1, b'y' * 10**7)\n{DH}"
    verdicts = judge_text(with_dh(noisy))
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}


def test_reading_standard_input_finds_its_end(judge_text: Judge) -> None:
    verdicts = judge_text(with_dh("dh = input()"))
    assert_costs_only_dh(verdicts, "This line raised EOFError", 2)


def test_a_gradient_too_large_to_be_one_is_not_sent(judge_text: Judge) -> None:
    verdicts = judge_text(with_dh("dh = torch.zeros(5000, 5000)"))
    assert verdicts["dh"].outcome is Outcome.ERROR
    assert verdicts["db2"].outcome is Outcome.PASS


def test_a_lying_tensor_class_is_read_as_what_its_memory_holds(judge_text: Judge) -> None:
    liar = (
        "class Liar(torch.Tensor):\n"
        "    def __eq__(self, other): return True\n"
        "    def __torch_function__(self, *a, **k): return True\n"
        "dh = (0 * (dlogits @ W2.T)).as_subclass(Liar)"
    )
    verdicts = judge_text(with_dh(liar))
    assert verdicts["dh"].outcome in (Outcome.FAIL, Outcome.ERROR)
    assert verdicts["db2"].outcome is Outcome.PASS


@pytest.mark.parametrize(
    "lines",
    [
        "q = W2.detach(); q.requires_grad_ = 1\ndh = torch.zeros_like(h)",
        "import importlib\nm = importlib.import_module('torch.auto' + ''.join('grad'))\n"
        "t = h.clone(); m_t = m.Variable(t, True)\n"
        "dh = m.__dict__['gr' + str('ad')]((m_t @ W2).sum(), m_t)[0]",
        "name = chr(103) + 'rad'\nf = getattr(torch, 'fu' + 'nc'.lower())\n"
        "dh = getattr(f, name)(lambda x: x.sum())(h)",
    ],
)
def test_the_engine_is_off_where_the_text_does_not_show_it(lines: str, judge_text: Judge) -> None:
    """The static look may be fooled; the engine is switched off all the same."""
    verdicts = judge_text(with_dh(lines))
    assert verdicts["dh"].points == 0


def test_an_answer_does_not_see_references_or_the_judge(judge_text: Judge) -> None:
    snoop = (
        "import gc, sys\n"
        "found = [o for o in gc.get_objects() if type(o).__name__ in ('Reference', 'References')]\n"
        "assert not found\n"
        "assert 'grader.judge' not in sys.modules\n"
        "assert 'grader.references' not in sys.modules\n"
        f"{DH}"
        "dh = dh + len(found) + ('grader.judge' in sys.modules)"
    )
    assert judge_text(with_dh(snoop))["dh"].outcome is Outcome.PASS


def test_one_answer_does_not_see_another(judge_text: Judge) -> None:
    judge_text(with_dh(f"torch.leftover = 1\nimport builtins; builtins.leftover = 1\n{DH}"))
    peek = f"{DH}dh = dh + float(hasattr(torch, 'leftover') or 'leftover' in dir(__builtins__))"
    assert judge_text(with_dh(peek))["dh"].outcome is Outcome.PASS


def test_runs_of_one_answer_share_no_tensor(judge_text: Judge) -> None:
    """What one run does to the forward values does not reach the next."""
    verdicts = judge_text(with_dh(f"{DH}W2.zero_()"))
    assert verdicts["dh"].outcome is Outcome.PASS
    assert verdicts["dW2"].outcome is Outcome.PASS


def test_many_endless_loops_end_in_bounded_time() -> None:
    """Four loops of one second each, and a limit of three for all."""
    limits = Limits(statement_seconds=1.0, total_seconds=3.0)
    loops = "\n".join(f"while True: {name} = 1" for name in ("dh", "dW2", "db2", "dhpreact"))
    source = LECTURE.split("# answer: ex1-linear2")[0] + f"# answer: ex1-linear2\n{loops}\n"
    cells = [AnswerCell(grade_id, text) for grade_id, text in read_cells(source)]
    with Runner(limits) as runner:
        verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
    assert {outcomes[name] for name in ("dh", "dW2", "db2", "dhpreact")} == {Outcome.ERROR}
    assert outcomes["dC"] is Outcome.TODO


def test_a_lost_worker_is_a_sentence_and_another_one_starts() -> None:
    with Runner() as runner:
        with pytest.raises(WorkerLost, match=r"The process that runs answers ended .*\."):
            runner.run(b"no safetensors at all")
        cells = [AnswerCell(grade_id, text) for grade_id, text in read_cells(LECTURE)]
        verdicts, _ = grade_exercise(ATOMIC, cells, runner)
        assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}


def test_a_killed_worker_is_replaced() -> None:
    cells = [AnswerCell(grade_id, text) for grade_id, text in read_cells(LECTURE)]
    with Runner() as runner:
        runner._worker.kill()
        runner._worker.wait()
        verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}


def test_importing_the_runner_does_not_import_torch() -> None:
    """Or the worker could not start while the judge's own torch is being imported."""
    code = "import sys, grader.runner; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
