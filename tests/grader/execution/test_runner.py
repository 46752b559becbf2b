"""What an answer may do to the process that runs it: nothing that costs another gradient."""

from __future__ import annotations

import marshal
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import grader.execution.runner
from corpus.readers.exercise_text import read_cells, right_answers
from corpus.readers.lecture_course import ATOMIC
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner, WorkerLost
from grader.execution.sandbox import Sandbox, why_not
from grader.grading.grade import grade_exercise
from grader.reports import wording
from grader.verdict import Outcome, Verdict
from grader.worker.frames import SIZES, Reply, Write, write_frame
from grader.worker.job import Job, Values
from grader.worker.results import Result, unpack_results
from grader.worker.terms import MOST_VALUES, Limits
from tests.grader.conftest import Judge
from tests.helpers.asking import VALUES, Run, request
from tests.helpers.processes import descendants, left_over

needs_bwrap = pytest.mark.skipif(
    why_not(Sandbox.BWRAP) != "", reason=f"no sandbox here: {why_not(Sandbox.BWRAP)}"
)

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")

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
    assert sentence in wording.note(verdict)
    assert verdict.place is not None
    assert verdict.place.cell == "ex1-linear2"
    # A loop is interrupted on whichever of its lines runs when the time is over.
    assert verdict.place.line in (line if isinstance(line, tuple) else (line,))
    assert {other.outcome for other in verdicts.values()} <= {Outcome.PASS, Outcome.CARRIED}
    assert verdicts["dlogits"].outcome is Outcome.PASS
    assert verdicts["db2"].outcome is Outcome.PASS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "sentence", "line"),
    [
        ("while True: dh = 1", "The answer was still at this line after 3 seconds.", 2),
        (
            "def forever():\n    x = 0\n    while True:\n        x += 1\ndh = forever()",
            "The answer was still at this line after 3 seconds.",
            (4, 5),
        ),
        (
            "import time\ndh = time.sleep(3600)",
            "The answer was still at this line after 3 seconds.",
            3,
        ),
        (
            "while True:\n    try:\n        while True: dh = 1\n    except BaseException:\n"
            "        pass",
            "The answer was still at this line after 3 seconds.",
            (2, 4),
        ),
        ("import sys\ndh = sys.exit()", "This line asked Python to stop.", 3),
        ("dh = exit()", "This line", 2),
        ("import os\ndh = os._exit(0)", "This line ended the Python process that ran it.", 3),
        ("import os\ndh = os.abort()", "This line ended the Python process that ran it.", 3),
        (
            "import os, signal\ndh = os.kill(os.getpid(), signal.SIGKILL) or 'still there'",
            # Where it has its own processes it is the first of them, which nobody in it can kill.
            "",
            3,
        ),
        (
            "from numpy.lib.stride_tricks import as_strided\n"
            "dh = as_strided(h.numpy(), (10**6,), (10**9,)).sum()",
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
            "import numpy\ndh = []\nwhile True: dh.append(numpy.empty(10**7))",
            "This line asked for more memory than the 2 GB an answer may use.",
            4,
        ),
        ("def deep(n): return deep(n + 1)\ndh = deep(0)", "This line raised RecursionError", 2),
        ("class E(Exception):\n    def __str__(self): return 1\nraise E", "", 0),
    ],
)
def test_a_destructive_line_costs_only_its_gradient(
    lines: str, sentence: str, line: int | tuple[int, ...], judge_text: Judge
) -> None:
    verdicts = judge_text(with_dh(lines))
    if not line:
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


@pytest.mark.slow
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
    """Nor may it look for them: see `grader.worker.confinement`."""
    snoop = (
        "import sys\n"
        "assert 'grader.grading.judge' not in sys.modules\n"
        "assert 'grader.program.references' not in sys.modules\n"
        f"{DH}"
        "dh = dh + ('grader.grading.judge' in sys.modules)"
    )
    assert judge_text(with_dh(snoop))["dh"].outcome is Outcome.PASS
    hunt = "import gc\ndh = len(gc.get_objects()) * torch.ones_like(h)"
    note = wording.note(judge_text(with_dh(hunt))["dh"])
    assert note == "This line raised PermissionError: answers have no use for gc.get_objects."


def test_one_answer_does_not_see_another(judge_text: Judge) -> None:
    judge_text(with_dh(f"torch.leftover = 1\nimport builtins; builtins.leftover = 1\n{DH}"))
    peek = f"{DH}dh = dh + float(hasattr(torch, 'leftover') or 'leftover' in dir(__builtins__))"
    assert judge_text(with_dh(peek))["dh"].outcome is Outcome.PASS


def test_runs_of_one_answer_share_no_tensor(judge_text: Judge) -> None:
    """What one run does to the forward values does not reach the next."""
    verdicts = judge_text(with_dh(f"{DH}W2.zero_()"))
    assert verdicts["dh"].outcome is Outcome.PASS
    assert verdicts["dW2"].outcome is Outcome.PASS


@pytest.mark.slow
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


class Junk(Job):
    """A request that no worker can read."""

    def pack(self) -> tuple[bytes, bytes]:
        return b"no head", b""


@pytest.mark.slow
def test_a_lost_worker_is_a_sentence_and_another_one_starts() -> None:
    with Runner() as runner:
        first = runner.worker
        with pytest.raises(WorkerLost, match=r"The process that runs answers ended .*\."):
            runner.run(Junk("values", (), (), {}, Limits(1.0, 1.0, 2**30)), VALUES)
        assert first.poll() is not None
        cells = [AnswerCell(grade_id, text) for grade_id, text in read_cells(LECTURE)]
        verdicts, _ = grade_exercise(ATOMIC, cells, runner)
        assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}


@pytest.mark.slow
def test_a_killed_worker_is_replaced() -> None:
    cells = [AnswerCell(grade_id, text) for grade_id, text in read_cells(LECTURE)]
    with Runner() as runner:
        runner.worker.kill()
        runner.worker.wait()
        verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}


@pytest.mark.slow
@needs_bwrap
def test_every_right_answer_passes_in_the_sandbox() -> None:
    """Without one they do in `tests/test_answers_of_exercises.py`."""
    with Runner(sandbox=Sandbox.BWRAP) as runner:
        for style, text in right_answers().items():
            cells = [AnswerCell(grade_id, source) for grade_id, source in read_cells(text)]
            verdicts, flags = grade_exercise(ATOMIC, cells, runner)
            passed = [verdict.name for verdict in verdicts if verdict.outcome is Outcome.PASS]
            assert (passed, flags) == (list(ATOMIC.gradients), []), style
        # The same worker: none of them was an incident, and what is one is told.
        hostile = "import os\nos.pidfd_open(os.getpid())\na = x"
        reply = runner.run(request(hostile), VALUES)
        assert reply.incidents == ["This answer asked the system for what no gradient needs."]
        assert list(reply.deadly) == [1]
        assert [bool(result.tensors) for result in results(reply)] == [True, True]


def results(reply: Reply) -> list[Result]:
    return unpack_results(reply.blob, 2) if reply.blob else []


def test_what_was_left_in_memory_is_nothing_to_go_by(runner: Runner) -> None:
    """What nothing has written must not be right because the right value was freed there."""
    made = (
        *("torch.empty(7, 27)", "torch.empty(3)", "torch.empty_like(x)", "x.new_empty(2)"),
        *("torch.Tensor(2)", "torch.empty_strided((2, 2), (1, 2))", "torch.zeros(0).resize_(4)"),
    )
    left = "".join(f"a = torch.full({size}, 0.5).clone()\ndel a\n" for size in ((7, 27), 3, 2))
    for each in made:
        (result,) = results(runner.run(request(f"{left}a = {each}", Run()), VALUES))
        assert result.tensors["a"].isnan().all(), each


# --- values are sent once


def numbered(number: int) -> Values:
    return Values(f"of-this-test-{number}", {"values": {"x": torch.full((3,), float(number))}})


def test_values_are_sent_once_and_again_when_the_worker_has_let_them_go(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def watched(write: Write, head: bytes, body: bytes) -> None:
        sent.append(marshal.loads(head)[0])
        write_frame(write, head, body)

    monkeypatch.setattr(grader.execution.runner, "write_frame", watched)

    def ask(number: int) -> int:
        """How often values were sent for a request; it found its own."""
        sent.clear()
        asked = request("a = x + 0", Run(), values=numbered(number))
        (result,) = results(runner.run(asked, numbered(number)))
        assert result.tensors["a"].tolist() == [float(number)] * 3
        assert sent.pop() == "job"
        return len(sent)

    assert [ask(number) for number in range(MOST_VALUES)] == [1] * MOST_VALUES
    assert [ask(number) for number in range(MOST_VALUES)] == [0] * MOST_VALUES
    # The ninth makes the worker let go of the first, although that was asked for since.
    assert ask(MOST_VALUES) == 1
    assert ask(1) == 0
    assert ask(0) == 1
    assert ask(1) == 1
    assert ask(3) == 0


@pytest.mark.slow
def test_a_new_worker_is_sent_the_values_again() -> None:
    with Runner() as runner:
        assert len(results(runner.run(request("a = x"), VALUES))) == 2
        runner.worker.kill()
        runner.worker.wait()
        assert len(results(runner.run(request("a = x"), VALUES))) == 2


def ask(runner: Runner) -> Reply:
    return runner.run(request("a = x"), VALUES)


# --- the process that stays


def below(runner: Runner) -> set[int]:
    """The processes that the worker has started."""
    return {*descendants(runner.worker.pid)}


@needs_proc
@pytest.mark.slow
def test_the_process_of_an_answer_ends_when_it_is_graded_and_not_before() -> None:
    cells = [AnswerCell(*cell) for cell in read_cells(with_dh("dh = -dlogits @ W2.T"))]
    with Runner() as runner:
        assert len(results(ask(runner))) == 2
        alone = below(runner)
        first = runner.run(request("a = x"), VALUES)
        (stayed,) = below(runner) - alone
        started = descendants(runner.worker.pid)[stayed]
        more = replace(request("a = x"), continues=True)
        second = runner.run(more, VALUES)
        assert below(runner) - alone == {stayed}
        assert [len(results(reply)) for reply in (first, second)] == [2, 2]
        runner.end_answer()
        assert left_over({stayed: started}) == []
        verdicts, _ = grade_exercise(ATOMIC, cells, runner)
        wrong = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
        assert [(verdict.name, bool(verdict.diagnosis)) for verdict in wrong] == [("dh", True)]
        left = {p: start for p, start in descendants(runner.worker.pid).items() if p not in alone}
        assert left_over(left) == []


@needs_proc
@pytest.mark.slow
def test_a_process_that_stays_ends_with_its_worker() -> None:
    with Runner() as runner:
        runner.run(request("a = x"), VALUES)
        started = descendants(runner.worker.pid)
    assert left_over(started) == []


@pytest.mark.slow
def test_a_worker_that_is_gone_needs_not_be_told_that_an_answer_ended() -> None:
    with Runner() as runner:
        runner.run(request("a = x"), VALUES)
        runner.worker.kill()
        runner.worker.wait()
        runner.end_answer()
        assert len(results(ask(runner))) == 2


# --- a worker that is not what it should be


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"\x01",
        SIZES.pack(2**31, 2**40),
        SIZES.pack(10, 100) + b"half",
        *(
            SIZES.pack(len(head), 0) + head
            for head in (b"", b"junk", b"{}", b"[]", b"7", b"\xff", b"[[1], []]", b"[[], null]")
        ),
        SIZES.pack(21, 0) + b'[[["one","ended"]],[]]'[:21],
        SIZES.pack(22, 0) + b'[[["one","ended"]],[]]',
    ],
    ids=lambda reply: repr(reply)[2:60],
)
def test_a_reply_that_is_none_is_a_sentence(reply: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def impostor(_: Sandbox) -> subprocess.Popen[bytes]:
        code = (
            "import os; os.read(0, 8);"
            f" os.write(1, {reply!r}); os.close(1)\nwhile os.read(0, 2**16): pass"
        )
        return subprocess.Popen(
            [sys.executable, "-S", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )

    monkeypatch.setattr(grader.execution.runner, "start_worker", impostor)
    with Runner() as runner, pytest.raises(WorkerLost, match="The process that runs answers ended"):
        ask(runner)


@pytest.mark.slow
def test_an_interrupted_request_leaves_no_reply_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Runner(Limits(statement_seconds=5.0)) as runner:
        first = runner.worker

        def interrupted(*_: object) -> list[memoryview]:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(grader.execution.runner, "read_frame", interrupted)
            with pytest.raises(KeyboardInterrupt):
                runner.run(request("import time; time.sleep(0.5)\na = 1 / 0"), VALUES)
        found = results(runner.run(request("a = x"), VALUES))
        assert [result.problems for result in found] == [(), ()]
        assert first.poll() is not None


def test_a_worker_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grader.execution.runner, "PATIENCE_SECONDS", 0.2)
    limits = Limits(total_seconds=0.1)
    code = "import os\nwhile os.read(0, 2**16): pass"
    hanging = [sys.executable, "-S", "-c", code]
    monkeypatch.setattr(
        grader.execution.runner,
        "start_worker",
        lambda _: subprocess.Popen(
            hanging, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        ),
    )
    with Runner(limits) as runner:
        first = runner.worker
        with pytest.raises(WorkerLost):
            ask(runner)
        assert first.poll() is not None


def test_importing_the_runner_does_not_import_torch() -> None:
    """Or the worker could not start while the judge's own torch is being imported."""
    code = "import sys, grader.execution.runner; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
@needs_bwrap
@pytest.mark.parametrize("milliseconds", range(0, 120, 12))
def test_who_is_killed_while_a_worker_starts_leaves_nobody_behind(milliseconds: int) -> None:
    code = (
        "from grader.execution.runner import Runner; from grader.execution.sandbox import Sandbox;"
        " print('now', flush=True); Runner(sandbox=Sandbox.BWRAP); input()"
    )
    judge = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with judge:
        assert judge.stdout is not None
        judge.stdout.readline()
        time.sleep(milliseconds / 1e3)  # how far it has come then is anybody's guess
        judge.send_signal(signal.SIGSTOP)
        below = descendants(judge.pid)
        judge.kill()
    assert left_over(below) == []
