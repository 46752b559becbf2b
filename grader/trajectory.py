"""Whole training with an answer, beside the same training with autograd."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.answer import Answer, AnswerCell, is_blank, parse_answer
from grader.collect import describe_problem
from grader.exercises import Exercise
from grader.instances import HIDDEN_SIZES, Instance, make_instance, size_names
from grader.manual_step import PARAMETERS
from grader.program import ForwardProgram, body_source, parse_program
from grader.run_plan import RunPlan, new_key
from grader.runner import Limits, Runner, WorkerLost
from grader.worker.request import Group, RunOrder, Values
from grader.worker.results import unpack_results

STEPS = 100
LEARNING_RATE = 0.1

CELL = "training"
MINE = "training_"
"""What the names begin with that the training loop needs beside the student's."""

TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-7}
"""Of a tensor's largest entry: how far an answer may be from autograd.

Over a hundred steps rounding alone makes 1e-5 in float32 and 1e-13 in float64.
"""
NOISE = {torch.float32: 1e-5, torch.float64: 1e-12}
"""Of the largest entry of all seven gradients: what a gradient of zero may differ by."""


@dataclass(frozen=True, slots=True)
class Journey:
    """What came of training on one instance.

    `place` says which one ("a network of the lecture's sizes, float32"). `departure` is a sentence
    about the first step at which the answer and autograd part; None where they stay together for
    all `steps`.
    """

    place: str
    steps: int
    departure: str | None = None


def compare_trajectories(
    exercise: Exercise,
    cells: Sequence[AnswerCell],
    runner: Runner,
    steps: int = STEPS,
    seed: int = 0,
) -> list[Journey]:
    """Train with an answer on random data: at the lecture's sizes, then on the hidden ones.

    On each instance the worker gets parameters and `steps` minibatches. It runs the forward pass,
    the answer and a plain update (rate 0.1) in a loop, in one namespace, as the student's own loop
    would, and sends back every step's loss, gradients and parameters. The judge, who has autograd,
    compares the gradients of each step with autograd's at the very same parameters, and the
    parameters with those of a training of autograd's own.
    """
    program = parse_program(exercise.forward)
    names = size_names(program)
    answer = parse_answer([AnswerCell(CELL, _loop(exercise, cells, steps))])
    lecture = make_instance(program, exercise.sizes, seed, torch.float32)
    hidden = [
        make_instance(program, dict(zip(names, sizes, strict=False)), seed + 1, torch.float64)
        for sizes in HIDDEN_SIZES
    ]
    places = {"a network of the lecture's sizes, float32": lecture}
    places |= {
        f"a hidden network with {instance.sizes['n_hidden']} hidden units, float64": instance
        for instance in hidden
    }
    journeys = []
    for place, instance in places.items():
        batches = _draw_batches(instance, steps, seed + 2)
        traces = _train(answer, program, instance, batches, runner)
        if isinstance(traces, str):
            journeys.append(Journey(place, steps, traces))
        else:
            parted = _departures(program, instance, batches, traces)
            journeys.append(Journey(place, steps, next(parted, None)))
    return journeys


def _loop(exercise: Exercise, cells: Sequence[AnswerCell], steps: int) -> str:
    """The text of the training: what the worker runs."""
    answer = parse_answer(cells)
    live = ast.Module([s for s in answer.top if not is_blank(s)], [])
    traced = ("loss", *PARAMETERS, *(f"d{name}" for name in PARAMETERS))
    lines = [f"{MINE}{name} = C.new_zeros({steps}, *{name}.shape)" for name in PARAMETERS]
    lines += [f"{MINE}d{name} = torch.zeros_like({MINE}{name})" for name in PARAMETERS]
    lines += [f"{MINE}loss = C.new_zeros({steps})", f"for {MINE}step in range({steps}):"]
    body = [f"Xb, Yb = {MINE}Xs[{MINE}step], {MINE}Ys[{MINE}step]", body_source(exercise.forward)]
    body += [ast.unparse(live)]
    # New tensors instead of changed ones: the parameters of this step may be kept by an answer.
    body += [f"{name} = {name} - {LEARNING_RATE} * d{name}" for name in PARAMETERS]
    body += [f"{MINE}{name}[{MINE}step] = {name}" for name in traced]
    indented = [f"    {line}" for part in body for line in part.splitlines()]
    return "\n".join([*lines, *indented])


def _draw_batches(instance: Instance, steps: int, seed: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    n, block_size, vocab_size = (instance.sizes[s] for s in ("n", "block_size", "vocab_size"))
    return {
        "Xs": torch.randint(vocab_size, (steps, n, block_size), generator=generator),
        "Ys": torch.randint(vocab_size, (steps, n), generator=generator),
    }


def _train(
    answer: Answer,
    program: ForwardProgram,
    instance: Instance,
    batches: Mapping[str, Tensor],
    runner: Runner,
) -> Mapping[str, Tensor] | str:
    """Every step's loss, gradients and parameters out of the worker, or why there are none."""
    given = {name: instance.values[name] for name in PARAMETERS}
    given |= {f"{MINE}{name}": batch for name, batch in batches.items()}
    wanted = [f"{MINE}{name}" for name in ("loss", *PARAMETERS)]
    wanted += [f"{MINE}d{name}" for name in PARAMETERS]
    double = instance.dtype is torch.float64
    values = Values(new_key(), {"given": Group(given, instance.sizes)})
    # A hundred steps are one statement: it may take as long as all statements of an answer.
    limits = replace(runner.limits, statement_seconds=runner.limits.total_seconds)
    plan = RunPlan(answer, 1)
    plan.add(RunOrder(("given",), plan.compiled(answer.live), tuple(wanted), (), double))
    try:
        reply = runner.run(plan.request(values, limits), values)
    except WorkerLost as lost:
        return str(lost)
    if not reply.blobs:
        return f"The training did not end within {limits.total_seconds:g} seconds."
    return _read(*reply.blobs[0], limits)


def _read(count: int, blob: memoryview, limits: Limits) -> Mapping[str, Tensor] | str:
    """The traces, or the sentence about what stopped the training."""
    try:
        (result,) = unpack_results(blob, count)
    # What comes from a student's process may be anything.
    except ValueError:
        return "What came back from the training is not data that can be read."
    if result.problems:
        problem = result.problems[0]
        sentence = describe_problem(problem.kind, problem.message, limits)
        return sentence.replace("This line", "The training", 1)
    return {name.removeprefix(MINE): value for name, value in result.tensors.items()}


def _departures(
    program: ForwardProgram,
    instance: Instance,
    batches: Mapping[str, Tensor],
    traces: Mapping[str, Tensor],
) -> Iterator[str]:
    """Sentences about where the training is not autograd's, the first step first."""
    theirs = {name: instance.values[name] for name in PARAMETERS}
    mine = theirs
    for step, (Xb, Yb) in enumerate(zip(batches["Xs"], batches["Ys"], strict=True)):
        here = {name: traces.get(f"d{name}") for name in PARAMETERS}
        now = {name: traces.get(name) for name in PARAMETERS}
        gradients = program.gradients({"Xb": Xb, "Yb": Yb, **mine})
        largest = max(float(gradients[name].abs().max()) for name in PARAMETERS)
        wrong = [
            f"d{name}"
            for name in PARAMETERS
            if not _close(_entry(here[name], step, gradients[name]), gradients[name], largest)
        ]
        if wrong:
            yield f"At step {step + 1}, {_listed(wrong)} not autograd's."
            return
        own = program.gradients({"Xb": Xb, "Yb": Yb, **theirs})
        theirs = {name: theirs[name] - LEARNING_RATE * own[name] for name in PARAMETERS}
        for name in PARAMETERS:
            given = _entry(now[name], step, theirs[name])
            if given is None or not _close(given, theirs[name]):
                yield f"After step {step + 1}, {name} is not where autograd's training has it."
                return
            mine = {**mine, name: given}


def _entry(trace: Tensor | None, step: int, like: Tensor) -> Tensor | None:
    """One step of a trace, if it is what a trace has to be."""
    if trace is None or trace.dtype != like.dtype or trace.shape[1:] != like.shape:
        return None
    return trace[step]


def _close(value: Tensor | None, reference: Tensor, largest: float = 0.0) -> bool:
    """True if they differ by rounding only; `largest` is that of all seven gradients."""
    if value is None:
        return False
    dtype = reference.dtype
    allowed = max(TOLERANCE[dtype] * float(reference.abs().max()), NOISE[dtype] * largest)
    # NaN is not close to anything.
    return float((value - reference).abs().max()) <= allowed


def _listed(names: Sequence[str]) -> str:
    """The names with their verb: "dC is", "dC and dW1 are"."""
    if len(names) == 1:
        return f"{names[0]} is"
    return f"{', '.join(names[:-1])} and {names[-1]} are"
