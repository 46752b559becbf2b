"""Compare a training with the student's gradients and the same training with autograd's."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from grader.answer.parse import Answer, AnswerCell, Raised, is_blank, parse_answer
from grader.answer.script import read_script
from grader.execution.ask import results_of
from grader.execution.problems import describe_problem
from grader.execution.runner import Runner, WorkerLost
from grader.execution.values import new_key
from grader.notebook.training.manual_step import PARAMETERS, training
from grader.notebook.training.trial import is_same
from grader.printable import counted, listed
from grader.program.forward_program import ForwardProgram
from grader.program.instances import Instance
from grader.program.parse import body_source
from grader.program.references import prepare
from grader.reports import wording
from grader.worker.job import Job, JobRun, Values

STEPS = 100
LEARNING_RATE = 0.1

CELL = "training"
MINE = "training_"
"""The beginning of the names that the training loop needs beside the student's."""

TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-7}
"""How far an answer may be from autograd, as a share of the tensor's largest entry.

Over a hundred steps rounding alone makes 1e-5 in float32 and 1e-13 in float64.
"""
NOISE = {torch.float32: 1e-5, torch.float64: 1e-12}
"""How far off a gradient of zero may be, as a share of the largest entry of all seven gradients."""


def compare_trajectories(
    cells: Sequence[AnswerCell], runner: Runner, steps: int = STEPS
) -> dict[str, str]:
    """Train with an answer on random data, at the lecture's sizes and then at the hidden ones.

    For each network the worker gets parameters and `steps` minibatches. It runs the forward pass,
    the answer and a plain update (rate 0.1) in a loop, in one namespace, as the student's own loop
    would, and sends back the gradients and parameters of every step. Here the gradients of each
    step are compared with autograd's at the same parameters, and the parameters with those of a
    training that autograd does on its own.

    Returns:
        For each network, such as "a network of the lecture's sizes, float32", a sentence about the
        first step at which the answer leaves autograd's training, or "".
    """
    references = prepare(training())
    answer = parse_answer([AnswerCell(CELL, _loop(cells, steps))])
    places = {"a network of the lecture's sizes, float32": references.lecture}
    for reference in references.hidden:
        units = reference.instance.sizes["n_hidden"]
        places[f"a hidden network with {units} hidden units, float64"] = reference.instance
    departures = {}
    for place, instance in places.items():
        batches = _draw_batches(instance, steps)
        traces = _train(answer, instance, batches, runner)
        if isinstance(traces, str):
            departures[place] = traces
        else:
            departures[place] = _departure(references.program, instance, batches, traces)
    return departures


def _loop(cells: Sequence[AnswerCell], steps: int) -> str:
    """Write the text of the training, which the worker runs."""
    answer = parse_answer(cells)
    live = ast.Module([s for s in answer.top if not is_blank(s)], [])
    traced = (*PARAMETERS, *(f"d{name}" for name in PARAMETERS))
    lines = [f"{MINE}{name} = C.new_zeros({steps}, *{name}.shape)" for name in PARAMETERS]
    lines += [f"{MINE}d{name} = torch.zeros_like({MINE}{name})" for name in PARAMETERS]
    lines += [f"for {MINE}step in range({steps}):"]
    body = [f"Xb, Yb = {MINE}Xs[{MINE}step], {MINE}Ys[{MINE}step]", body_source(training().forward)]
    body += [ast.unparse(live)]
    # New tensors instead of changed ones: the parameters of this step may be kept by an answer.
    body += [f"{name} = {name} - {LEARNING_RATE} * d{name}" for name in PARAMETERS]
    body += [f"{MINE}{name}[{MINE}step] = {name}" for name in traced]
    return "\n".join([*lines, textwrap.indent("\n".join(body), "    ")])


def _draw_batches(instance: Instance, steps: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(2)
    n, block_size, vocab_size = (instance.sizes[s] for s in ("n", "block_size", "vocab_size"))
    return {
        "Xs": torch.randint(vocab_size, (steps, n, block_size), generator=generator),
        "Ys": torch.randint(vocab_size, (steps, n), generator=generator),
    }


def _train(
    answer: Answer, instance: Instance, batches: Mapping[str, Tensor], runner: Runner
) -> Mapping[str, Tensor] | str:
    """Return every step's gradients and parameters from the worker, or say why there are none."""
    for reason in answer.broken.values():  # `global loss` may stand in a cell, not in a loop
        return reason.message
    given = {name: instance.values[name] for name in PARAMETERS}
    given |= {f"{MINE}{name}": batch for name, batch in batches.items()}
    wanted = [f"{MINE}{name}" for name in PARAMETERS]
    wanted += [f"{MINE}d{name}" for name in PARAMETERS]
    double = instance.dtype is torch.float64
    values = Values(new_key(), {"given": {**given, **instance.sizes}})
    # A hundred steps are one statement: it may take as long as all statements of an answer.
    limits = replace(runner.limits, statement_seconds=runner.limits.total_seconds)
    statements = read_script(answer, frozenset()).statements
    run = JobRun(("given",), tuple(range(len(statements))), tuple(wanted), double)
    try:
        reply = runner.run(Job(values.key, statements, (run,), {}, limits), values)
        results = results_of(reply, 1)
    except WorkerLost as lost:
        return str(lost)
    if not results:
        return f"The training did not end within {counted(limits.total_seconds, 'second')}."
    result = results[0]
    if isinstance(result, Raised):
        return "What came back from the training is not data that can be read."
    for problem in result.problems:
        names = prepare(training()).program.gradient_names
        raised = describe_problem(problem, limits, names)
        guess = wording.say(raised.guess) if raised.guess else ""
        return f"The training {raised.did} {guess}".strip() if raised.did else raised.message
    return {name.removeprefix(MINE): value for name, value in result.tensors.items()}


def _departure(
    program: ForwardProgram,
    instance: Instance,
    batches: Mapping[str, Tensor],
    traces: Mapping[str, Tensor],
) -> str:
    """Say at which step the training first leaves autograd's, or return ""."""
    mine = theirs = {name: instance.values[name] for name in PARAMETERS}
    for step, (Xb, Yb) in enumerate(zip(batches["Xs"], batches["Ys"], strict=True)):
        gradients = program.gradients({"Xb": Xb, "Yb": Yb, **mine})
        largest = max(float(gradients[name].abs().max()) for name in PARAMETERS)
        wrong = [
            f"d{name}"
            for name in PARAMETERS
            if not _is_close(traces.get(f"d{name}"), step, gradients[name], largest)
        ]
        if wrong:
            verb = "is" if len(wrong) == 1 else "are"
            return f"At step {step + 1}, {listed(wrong)} {verb} not autograd's."
        own = program.gradients({"Xb": Xb, "Yb": Yb, **theirs})
        theirs = {name: theirs[name] - LEARNING_RATE * own[name] for name in PARAMETERS}
        for name in PARAMETERS:
            if not _is_close(traces.get(name), step, theirs[name]):
                return f"After step {step + 1}, {name} is not where autograd's training has it."
        mine = {name: traces[name][step] for name in PARAMETERS}
    return ""


def _is_close(trace: Tensor | None, step: int, reference: Tensor, largest: float = 0.0) -> bool:
    """True if there is a trace that at this step equals the reference, apart from rounding.

    `largest` is the largest entry of all seven gradients.
    """
    dtype = reference.dtype
    if trace is None or trace.dtype != dtype or trace.shape[1:] != reference.shape:
        return False
    return is_same(trace[step], reference, TOLERANCE[dtype], NOISE[dtype] * largest)
