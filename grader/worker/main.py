"""The worker: a process of its own that runs students' statements on given values.

It reads values and requests from standard input and answers each request on standard output.
The answer of a student's code is one safetensors blob with JSON as its metadata, and nothing is
ever unpickled. Seeds and verdicts never come here. References do not either, except those that a
wrong line reads, times a random number.

Each request runs in its own child, forked from this process, which has already imported torch.
The child says which statement it is about to run, so that its death can be blamed on a statement.
Then another child takes up the request and leaves this statement out. Edits of an answer, on which
no verdict depends, may run in the child that ran the answer, because forking another child takes
as long as running a hundred edits.
"""

from __future__ import annotations

import marshal
import os
from dataclasses import replace
from io import FileIO

import torch
import torch.autograd._functions  # PyTorch loads it at the first `resize`: the sandbox forbids that

from grader.worker.child import JudgeGone, Warm, answer_here
from grader.worker.confinement import Confinement
from grader.worker.engine import switch_off_engine
from grader.worker.frames import Reply, read_frame, write_frame
from grader.worker.job import Job, JobRun, Line, Statement, Values
from grader.worker.results import pack_results
from grader.worker.run_job import run_job
from grader.worker.terms import LARGEST_REQUEST, MOST_VALUES, Limits

OPERATORS = """
t = x @ x.T
t = torch.matmul(x, x)
t = (x + 1) * x - x / 2
t = -x ** 2
t += x
t *= 0.5
t = x.exp() + x.log() + x.sqrt() + x.tanh() + x.abs() + x.square() + x.reciprocal() + x.pow(-0.5)
t = x.sum(0) + x.sum(1, keepdim=True) + x.sum(dim=0, keepdim=True) + x.mean(0) + x.var(0)
t = x.sum()
t = x.max(1, keepdim=True).values + x.max() + x.argmax(1)
t = torch.zeros_like(x)
t[range(2), i] = -1.0
t[i] += x[0]
t[torch.arange(2), i] += 1
t.index_add_(0, i, x).scatter_(1, i.view(2, 1), 1.0).index_put_((i,), x, accumulate=True)
t = torch.ones_like(x).expand(2, 2).clone().reshape(4).view(2, 2).contiguous()
t = x.unsqueeze(0).transpose(1, 2).permute(2, 0, 1).squeeze() + x[:, :1] + x.flatten()[:2]
t = F.one_hot(i, num_classes=2).float() + torch.softmax(x, 1) + F.log_softmax(x, 1)
t = torch.einsum('ij,kj->ik', x, x)
t = torch.where(x > 0, x, torch.zeros(2, 2)) + torch.stack([x, x]).sum(0) + torch.cat([x, x])[:2]
for k in range(2):
    for j in range(2):
        t[i[k]] += x[k, j]
"""
"""Calls of most PyTorch operators from which gradients are made."""


def main() -> None:
    """Answer requests until standard input ends."""
    requests, replies = _take_over_pipes()
    # One thread each: many workers share a machine, and a fork keeps only the forking thread.
    torch.set_num_threads(1)
    # What nothing has written is NaN: an answer must not be right by what was left there. Said to
    # PyTorch's core, since `torch.use_deterministic_algorithms` would import the compiler.
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    switch_off_engine()
    warm_up()
    kept: dict[str, Values] = {}
    warm = Warm(Confinement.prepare(), kept, requests.fileno())
    try:
        while (frame := read_frame(requests.readinto, LARGEST_REQUEST)) is not None:
            match marshal.loads(frame[0]):
                case ["values"]:
                    values = Values.unpack(frame[1])
                    kept[values.key] = values
                    if len(kept) > MOST_VALUES:
                        del kept[next(iter(kept))]
                case ["end"]:
                    warm.end_answer()
                case ["job", limits, continues]:
                    reply = _answer(frame[1], Limits(*limits), continues, warm)
                    write_frame(replies.write, *reply.pack())
                    # What came is gone before the next answer's child is forked.
                    del reply
            del frame
    except JudgeGone:
        return
    finally:
        warm.end_answer()


def _answer(body: memoryview, limits: Limits, continues: bool, warm: Warm) -> Reply:
    if hasattr(os, "fork"):
        return warm.answer(body, limits, continues)
    return answer_here(body, warm.values)


def warm_up() -> None:
    """Call common operators at both precisions, as an answer would.

    The first call of each binds symbols, chooses kernels and fills caches. Otherwise every child
    would begin with that work, and then throw it away.
    """
    tensors = {"x": torch.eye(2) + 1, "i": torch.tensor([1, 0])}
    groups = {
        "single": tensors,
        "double": {**tensors, "x": tensors["x"].double()},
    }
    code = compile(OPERATORS, "<warm-up>", "exec")
    statement = Statement("", (Line(0, 1, 1, frozenset("x"), frozenset("t")),), code, code)
    runs = [JobRun((group,), (0,), ("t",), group == "double") for group in groups]
    runs.append(replace(runs[-1], upstreams="double"))
    job = Job("", (statement,), tuple(runs), {"t": frozenset()}, Limits())
    results = list(run_job(job, groups))
    problems = [problem for result in results for problem in result.problems]
    if problems:
        raise RuntimeError(f"the warm-up does not run: {problems[0].message}")
    pack_results(results)


def _take_over_pipes() -> tuple[FileIO, FileIO]:
    """Reserve the pipes to the judge for requests and replies, so that no print goes there."""
    requests, replies = FileIO(os.dup(0), "rb"), FileIO(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    return requests, replies
