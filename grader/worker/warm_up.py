"""The warm-up: what PyTorch does when an operator is first called, done before any fork."""

from __future__ import annotations

import torch

from grader.worker.execution import run_request
from grader.worker.request import Group, Request, RunOrder, Statement
from grader.worker.results import Result, pack_results

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


def warm_up() -> None:
    """Call common operators, at both precisions, as an answer would.

    Symbols are bound, kernels chosen and caches filled at the first call of each; a child would
    begin every answer with that, and throw it away.
    """
    tensors = {"x": torch.eye(2) + 1, "i": torch.tensor([1, 0])}
    groups = {
        "single": Group(tensors),
        "double": Group({**tensors, "x": tensors["x"].double()}),
    }
    code = compile(OPERATORS, "<warm-up>", "exec")
    statement = Statement(0, "", 1, ((0, 1, 1),), code)
    orders = tuple(RunOrder((group,), (0,), ("t",), (), group == "double") for group in groups)
    results: list[Result] = []
    request = Request("", (statement,), orders, 60.0, 60.0, 0)
    run_request(request, groups, {}, lambda *_: None, lambda _, result: results.append(result))
    problems = [problem for result in results for problem in result.problems]
    if problems:
        raise RuntimeError(f"the warm-up does not run: {problems[0].message}")
    pack_results(results)
