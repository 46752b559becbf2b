"""Trains with right gradients, step by step, and counts what `compare` takes for wrong.

Run as `python right_gradients.py STEPS`; prints comparisons, false alarms, CPU capability.
"""

import sys

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.program.compare import compare
from makemore_data import build_splits, init_parameters, load_names


def manual_gradients(values: dict[str, Tensor]) -> dict[str, Tensor]:
    """The backward pass of the lecture's fourth exercise, with `logit_maxes` and `hpreact`."""
    v, n = values, values["Xb"].shape[0]
    dlogits = F.softmax(v["logits"], 1)
    dlogits[range(n), v["Yb"]] -= 1
    dlogits /= n
    dh = dlogits @ v["W2"].T
    dhpreact = (1 - v["h"] ** 2) * dh
    centred = (
        n * dhpreact - dhpreact.sum(0) - n / (n - 1) * v["bnraw"] * (dhpreact * v["bnraw"]).sum(0)
    )
    dhprebn = v["bngain"] * v["bnvar_inv"] / n * centred
    dembcat = dhprebn @ v["W1"].T
    demb = dembcat.view(v["emb"].shape)
    dC = torch.zeros_like(v["C"]).index_add_(0, v["Xb"].flatten(), demb.flatten(0, 1))
    return {
        "hpreact": dhpreact,
        "logit_maxes": -dlogits.sum(1, keepdim=True),
        "C": dC,
        "W1": v["embcat"].T @ dhprebn,
        "b1": dhprebn.sum(0),
        "bngain": (v["bnraw"] * dhpreact).sum(0, keepdim=True),
        "bnbias": dhpreact.sum(0, keepdim=True),
        "W2": v["h"].T @ dlogits,
        "b2": dlogits.sum(0),
    }


def main(steps: int) -> None:
    torch.set_num_threads(1)
    from corpus.readers.lecture_course import ATOMIC
    from grader.program.parse import parse_program

    program = parse_program(ATOMIC.forward)
    splits = build_splits(load_names())
    generator = torch.Generator().manual_seed(2147483647)
    parameters = init_parameters(generator=generator)._asdict()
    comparisons = alarms = 0
    for _ in range(steps):
        rows = torch.randint(0, len(splits.train.X), (32,), generator=generator)
        inputs = {**parameters, "Xb": splits.train.X[rows], "Yb": splits.train.Y[rows]}
        references = program.gradients(inputs)
        manual = manual_gradients(program.run(inputs))
        for name, gradient in manual.items():
            comparison = compare(name, gradient, references[name])
            comparisons += 1
            if not comparison.approximate:
                alarms += 1
                print(comparison, float(references[name].abs().max()))
        for name, parameter in parameters.items():
            parameter -= 0.1 * manual[name]
    capability = torch.backends.cpu.get_cpu_capability()
    print(f"{comparisons} comparisons, {alarms} false alarms, {capability}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
