"""Reading what came back from the student's process, whatever it is."""

import json
from collections.abc import Callable
from typing import Any, cast

import pytest
import safetensors.torch
import torch

from grader.answer import AnswerCell, parse_answer
from grader.collect import UNREADABLE, collect_evidence, describe_problem
from grader.evidence import GradientEvidence
from grader.execution import LONGEST_MESSAGE
from grader.exercises import ATOMIC
from grader.grading import prepare
from grader.judge import judge
from grader.runner import Limits, Runner, WorkerLost
from grader.verdict import Outcome, Place

LIMITS = Limits(statement_seconds=3.0, total_seconds=40.0, memory_bytes=2**31)
CELL = AnswerCell("ex1-linear2", "# answer: ex1-linear2\ndh = dlogits @ W2.T\ndW2 = ...\n")


class FakeRunner:
    """Replies the same blob for every run, or what it is told to."""

    def __init__(self, reply: Callable[[int], bytes | None]) -> None:
        self.limits = LIMITS
        self.reply = reply

    def run(self, payload: bytes) -> dict[int, bytes]:
        header = json.loads(payload[8 : 8 + int.from_bytes(payload[:8], "little")])
        runs = len(json.loads(header["__metadata__"]["order"])["runs"])
        replies = {number: self.reply(number) for number in range(runs)}
        return {number: blob for number, blob in replies.items() if blob is not None}


def collect(
    reply: Callable[[int], bytes | None], *cells: AnswerCell
) -> dict[str, GradientEvidence]:
    grounds = prepare(ATOMIC)
    evidence = collect_evidence(
        parse_answer(cells or (CELL,)),
        ATOMIC.gradients,
        (),
        grounds.references,
        grounds.lecture,
        cast(Runner, FakeRunner(reply)),
    )
    # Whatever the evidence is, the judge has a verdict on it.
    verdicts = judge(evidence, grounds.references, grounds.lecture_gradients)
    assert [verdict.name for verdict in verdicts] == list(ATOMIC.gradients)
    assert all(verdict.outcome is not Outcome.PASS for verdict in verdicts)
    return {item.name: item for item in evidence}


def blob(
    tensors: dict[str, torch.Tensor] | None = None,
    types: object = None,
    problems: object = None,
) -> bytes:
    metadata = {"types": types or {}, "problems": problems or []}
    packed = {key: json.dumps(value) for key, value in metadata.items()}
    return safetensors.torch.save(tensors or {}, packed)


def raw(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


PROBLEM = {
    "statement": 0,
    "kind": "E",
    "message": "no",
    "cell": "ex1-linear2",
    "line": 2,
    "inner": 0,
}
GOOD = blob({"dh": torch.ones(2)})
NO_METADATA = {"types": "{}", "problems": "[]"}
DEEP = b"[" * 10**5


@pytest.mark.parametrize(
    ("kind", "message", "sentence"),
    [
        ("TimeLimit", "", "This line did not end within 3 seconds."),
        ("Gone", "ended it all", "This line ended it all."),
        ("SystemExit", "0", "This line asked Python to stop."),
        ("KeyboardInterrupt", "", "This line asked Python to stop."),
        ("MemoryError", "", "This line asked for more memory than the 2 GB an answer may use."),
        (
            "RuntimeError",
            "DefaultCPUAllocator: can't allocate memory: you tried",
            "This line asked for more memory than the 2 GB an answer may use.",
        ),
        ("RuntimeError", "sizes differ.", "This line raised RuntimeError: sizes differ."),
        ("AssertionError", "", "This line raised AssertionError."),
        (
            "NameError",
            "name 'dprobs' is not defined",
            "This line raised NameError: name 'dprobs' is not defined.",
        ),
        (
            "NameError",
            "name 'W3' is not defined",
            "This line raised NameError: name 'W3' is not defined. Answer cells are run alone:"
            " what a line needs stands in one of them.",
        ),
    ],
)
def test_a_problem_is_a_sentence(kind: str, message: str, sentence: str) -> None:
    assert describe_problem(kind, message, LIMITS) == sentence


BROKEN = (
    b"",
    b"\x00",
    b"garbage that is no safetensors blob",
    b"\xff" * 64,
    GOOD[: len(GOOD) // 2],
    GOOD[:-1],
    GOOD + b"more",
    raw({}),
    raw([]),
    raw("text"),
    raw(b"{" * 50),
    raw(DEEP),
    raw({"__metadata__": []}),
    raw({"__metadata__": {"types": "{}"}}),
    raw({"__metadata__": {"types": "{", "problems": "[]"}}),
    raw({"__metadata__": {"types": 1, "problems": 2}}),
    raw({"__metadata__": {"types": DEEP.decode(), "problems": "[]"}}),
    raw({"__metadata__": NO_METADATA, "dh": 1}),
    raw({"__metadata__": NO_METADATA, "dh": {"dtype": "F99", "shape": [], "data_offsets": []}}),
    raw(
        {
            "__metadata__": NO_METADATA,
            "dh": {"dtype": "F32", "shape": [0, 2**63 - 1, 4], "data_offsets": [0, 0]},
        }
    ),
    raw(
        {
            "__metadata__": NO_METADATA,
            "dh": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]},
        }
    ),
    blob(types=["dh"]),
    blob(types="dh"),
    blob(problems=7),
    blob(problems=[7]),
    blob(problems=["text"]),
    blob(problems=[{}]),
    blob(problems=[PROBLEM | {"statement": "0"}]),
    blob(problems=[PROBLEM | {"statement": []}]),
    blob(problems=[PROBLEM | {"statement": None}]),
    blob(problems=[PROBLEM | {"kind": None}]),
    blob(problems=[PROBLEM | {"message": ["no"]}]),
    blob(problems=[PROBLEM | {"cell": {"a": 1}}]),
    blob(problems=[PROBLEM | {"line": 1.5}]),
    blob(problems=[PROBLEM | {"inner": "0"}]),
    blob(problems=[{key: value for key, value in PROBLEM.items() if key != "inner"}]),
)


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_a_blob_that_cannot_be_read_is_a_sentence(number: int) -> None:
    evidence = collect(lambda _: BROKEN[number])
    dh = evidence["dh"]
    assert dh.local is not None
    assert {value.raised for value in (dh.lecture, *dh.hidden, *dh.local)} == {UNREADABLE}
    # What nobody wrote is still to do, whatever happened to the rest.
    assert evidence["dW2"].hidden[0].is_placeholder


@pytest.mark.parametrize("place", range(0, len(GOOD), 7))
def test_no_flipped_byte_is_a_traceback(place: int) -> None:
    for value in (0, 34, 123, 255):
        collect(lambda _, value=value: GOOD[:place] + bytes([value]) + GOOD[place + 1 :])  # type: ignore[misc]


@pytest.mark.parametrize(
    "dtype",
    [torch.float8_e4m3fn, torch.complex64, torch.bool, torch.uint16, torch.float16],
    ids=str,
)
def test_tensors_that_no_worker_would_send_do_not_reach_a_pass(dtype: torch.dtype) -> None:
    evidence = collect(lambda _: blob({"dh": torch.ones(2).to(dtype)}))
    assert evidence["dh"].hidden[0].tensor is not None


def test_names_that_nobody_asked_for_are_ignored() -> None:
    tensors = {"dh": torch.ones(2), "loss": torch.ones(1), "": torch.ones(1)}
    evidence = collect(lambda _: blob(tensors, types={"nobody": "list", "dW1": "float"}))
    values = {name: item.hidden[0] for name, item in evidence.items()}
    assert values["dh"].tensor is not None
    assert set(values) == set(ATOMIC.gradients)


def test_problems_of_statements_that_do_not_exist_concern_nobody() -> None:
    evidence = collect(
        lambda _: blob({"dh": torch.ones(2)}, problems=[PROBLEM | {"statement": 99}])
    )
    assert evidence["dh"].hidden[0].raised is None


def test_a_problem_comes_with_its_place() -> None:
    evidence = collect(lambda _: blob(problems=[PROBLEM]))
    raised = evidence["dh"].hidden[0].raised
    assert raised is not None
    assert raised.message == "This line raised E: no."
    assert raised.place == Place("ex1-linear2", 2)


BLOCK = AnswerCell(
    "ex1-linear2", "with torch.no_grad():\n    dh = dlogits @ W2.T\n    plt.imshow(dh)"
)


@pytest.mark.parametrize(
    ("inner", "has_value", "raised"),
    [(1, True, True), (0, True, False), (None, True, True), (2, True, False), (2, False, True)],
    ids=["own", "header", "unknown", "beside", "no value"],
)
def test_a_problem_of_another_statement_in_the_block_only_interrupts(
    inner: int | None, has_value: bool, raised: bool
) -> None:
    tensors = {"dh": torch.ones(2)} if has_value else {}
    evidence = collect(lambda _: blob(tensors, problems=[PROBLEM | {"inner": inner}]), BLOCK)
    value = evidence["dh"].hidden[0]
    assert (value.raised is not None) is raised
    assert value.interrupted is not None
    assert value.interrupted.message == "This line raised E: no."


def test_written_but_unbound_is_known() -> None:
    evidence = collect(lambda _: blob())
    assert evidence["dh"].is_written
    assert not evidence["dh"].is_blank
    assert not evidence["dW2"].is_written
    assert evidence["dW2"].is_blank


def test_a_problem_without_a_line_has_no_place() -> None:
    evidence = collect(lambda _: blob(problems=[PROBLEM | {"line": None}]))
    raised = evidence["dh"].hidden[0].raised
    assert raised is not None
    assert raised.place is None


def test_what_is_said_has_an_end() -> None:
    long = "x" * 10**6
    evidence = collect(
        lambda _: blob(types={"dh": long}, problems=[PROBLEM | {"message": long, "kind": long}])
    )
    raised, kind = evidence["dh"].hidden[0].raised, evidence["dh"].hidden[0].type_name
    assert raised is not None
    assert len(raised.message) < 3 * LONGEST_MESSAGE
    assert kind == "x" * LONGEST_MESSAGE


def test_runs_that_never_came_say_why() -> None:
    evidence = collect(lambda number: GOOD if number == 0 else None)
    dh = evidence["dh"]
    assert dh.lecture.raised is None
    assert dh.hidden[0].raised is not None
    assert "did not end within 40 seconds" in dh.hidden[0].raised.message


def test_a_lost_worker_is_a_sentence_on_every_gradient_that_was_written() -> None:
    def lose(_: int) -> bytes:
        raise WorkerLost("The process that runs answers ended.")

    evidence = collect(lose)
    raised = evidence["dh"].lecture.raised
    assert raised is not None
    assert raised.message == "The process that runs answers ended."
    assert evidence["dC"].lecture.raised is None


def test_without_cells_nothing_is_run() -> None:
    def fail(_: int) -> bytes:
        raise AssertionError("nothing to run")

    grounds = prepare(ATOMIC)
    evidence = collect_evidence(
        parse_answer([]),
        ATOMIC.gradients,
        (),
        grounds.references,
        grounds.lecture,
        cast(Runner, FakeRunner(fail)),
    )
    assert all(value.is_placeholder for item in evidence for value in item.hidden)


def test_the_place_of_a_blank_and_of_a_broken_cell() -> None:
    broken = AnswerCell("ex1-tanh", "# answer: ex1-tanh\ndhpreact = (1 -\n")
    evidence = collect(lambda _: blob(), CELL, broken)
    assert evidence["dW2"].place == Place("ex1-linear2", 3)
    assert evidence["dh"].place == Place("ex1-linear2", 2)
    reason = evidence["dhpreact"].broken
    assert reason is not None
    assert reason.message.startswith("Python cannot read this cell")
    assert evidence["dW2"].broken is None


def test_references_are_not_in_what_is_sent() -> None:
    sent: list[bytes] = []

    class Spy(FakeRunner):
        def run(self, payload: bytes) -> dict[int, bytes]:
            sent.append(payload)
            return {}

    grounds = prepare(ATOMIC)
    arguments: Any = (grounds.references, grounds.lecture, Spy(lambda _: None))
    collect_evidence(parse_answer([CELL]), ATOMIC.gradients, (), *arguments)
    (payload,) = sent
    for reference in grounds.references.hidden:
        for name in ("h", "W2", "logits"):
            gradient = reference.gradients[name].contiguous().numpy().tobytes()
            assert gradient not in payload
