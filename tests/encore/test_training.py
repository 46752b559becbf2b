"""Notebook 7's own checks name a mistake, its training resumes, and the command trains by hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from corpus.readers.encore import LAYOUT

STEPS = 40


def load_command() -> ModuleType:
    """`notebooks/encore/train.py`, which is in no package."""
    spec = spec_from_file_location("encore_train", LAYOUT.blanks / "train.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COMMAND = load_command()
SOURCES = COMMAND.cells_that_train(COMMAND.SOLUTION)


@pytest.fixture(scope="module")
def notebook() -> Iterator[dict[str, Any]]:
    """What the solved notebook's training cells define, for a short training."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(COMMAND.STEPS, str(STEPS))
        patch.setenv("MAKEMORE_NAMES", "bundled")
        threads = torch.get_num_threads()
        yield COMMAND.definitions(COMMAND.SOLUTION)
        torch.set_num_threads(threads)


def solved(name: str) -> str:
    """The text of a function of the solved notebook."""
    (cell,) = [str(source) for source in SOURCES if f"def my_{name}(" in source]
    return cell


MISTAKES = {
    "clip": [
        ("gradient *= most / norm", "gradient *= 1 / norm", "length has become 1"),
        ("gradient *= most / norm", "gradient /= most", "divided by the bound"),
        ("gradient *= most / norm", "gradient = gradient * most / norm", "nothing has changed"),
        (".item() ** 0.5", ".item()", "the norm has no root"),
        ("(gradient**2).sum()", "(gradient**2).mean()", "the mean of the squares"),
        ("if norm > most:", "if True:", "short enough stays as it is"),
        ("return norm", "return None", "return it"),
        ("if norm > most:", "if norm > 1:", "a gradient that is short enough stays as it is"),
        ("return norm", "return min(norm, most)", "the norm after clipping"),
        ("    return norm", "        return norm", "return it when nothing is clipped, too"),
        ("return norm", "return torch.tensor(norm)", "it is a tensor"),
        (
            "for gradient in gradients:\n            gradient *= most / norm",
            "for i, each in enumerate(gradients):\n            gradients[i] = each * most / norm",
            "the list has new tensors",
        ),
        ("gradient *= most / norm", "gradient *= norm / most", "the factor is turned over"),
        (
            "sum((gradient**2).sum() for gradient in gradients).item() ** 0.5",
            "sum(gradient.abs().sum() for gradient in gradients).item()",
            "the sizes are added",
        ),
        (
            "sum((gradient**2).sum() for gradient in gradients).item() ** 0.5",
            "max(gradient.abs().max() for gradient in gradients).item()",
            "the largest number is not the norm",
        ),
        (
            "    if norm > most:\n        for gradient in gradients:\n",
            "    norm = 0.0\n    for gradient in gradients:\n"
            "        norm = (norm**2 + gradient.norm().item() ** 2) ** 0.5\n"
            "        if norm > most:\n",
            "before the norm of all is known",
        ),
        ("gradient *= most / norm", "gradient *= 3", "(norm = "),
        ("gradient *= most / norm", "gradient.clamp_(-most, most)", "each number is clipped"),
        (
            "gradient *= most / norm",
            "gradient *= min(1, most / gradient.norm())",
            "by itself; the norm",
        ),
        (
            "    if norm > most:\n        for gradient in gradients:\n",
            "    for gradient in gradients:\n        if gradient.norm() > most:\n",
            "one factor for all",
        ),
        ("sum((gradient**2).sum() for", "sum(torch.sum(gradient, 9) for", "it raises IndexError"),
    ],
    "adamw": [
        ("m += 0.1 * (dp - m)", "m += 0.01 * (dp - m)", "0.99 and 0.01 belong to the squares"),
        ("m += 0.1 * (dp - m)", "m += 0.9 * (dp - m)", "shares are exchanged"),
        ("m += 0.1 * (dp - m)", "m += 0.1 * dp", "nothing is forgotten"),
        ("m += 0.1 * (dp - m)", "m += dp - 0.1 * m", "counts in full"),
        ("m += 0.1 * (dp - m)", "m += 0.1 * (dp**2 - m)", "moments mixed up: m takes"),
        ("m += 0.1 * (dp - m)", "m = m + 0.1 * (dp - m)", "change `m` in place"),
        (
            "v += 0.01 * (dp**2 - v)",
            "v += 0.1 * (dp**2 - v)",
            "0.9 and 0.1 belong to the gradients",
        ),
        ("v += 0.01 * (dp**2 - v)", "v += 0.99 * (dp**2 - v)", "shares are exchanged"),
        ("v += 0.01 * (dp**2 - v)", "v += 0.01 * dp**2", "nothing is forgotten"),
        ("v += 0.01 * (dp**2 - v)", "v += 0.01 * (dp - v)", "moments mixed up: v takes"),
        ("v += 0.01 * (dp**2 - v)", "v += 0.01 * (dp.abs() - v)", "the square is expected"),
        ("m_hat = m / (1 - 0.9**step)", "m_hat = m", "m has no bias correction"),
        ("v_hat = v / (1 - 0.99**step)", "v_hat = v", "v has no bias correction"),
        ("v_hat = v / (1 - 0.99**step)", "v_hat = v / (1 - 0.9**step)", "v's correction has 0.9"),
        ("m_hat = m / (1 - 0.9**step)", "m_hat = m / (1 - 0.9)", "exponent `step` is missing"),
        ("m_hat = m / (1 - 0.9**step)", "m_hat = m / 1 - 0.9**step", "a bracket of its own"),
        ("m_hat = m / (1 - 0.9**step)", "m_hat = m / (1 - 0.9 * step)", "`step` is an exponent"),
        ("v_hat = v / (1 - 0.99**step)", "v_hat = v / (1 - 0.99 * step)", "something negative"),
        ("m_hat = m / (1 - 0.9**step)", "m_hat = m / (1 - 0.9) ** step", "before 1 is taken"),
        ("m_hat = m / (1 - 0.9**step)", "m_hat = m / (1 - 0.9 ** (step + 1))", "is 1 already"),
        ("m_hat = m / (1 - 0.9**step)", "m_hat = m / (1 - 0.9 ** (step - 1))", "is 1, not 0"),
        ("m_hat = m / (1 - 0.9**step)", "m_hat = m / 0.9**step", "1 less the power"),
        ("m_hat = m / (1 - 0.9**step)", "m_hat = m * (1 - 0.9**step)", "of m: divide by it"),
        ("m_hat = m / (1 - 0.9**step)", "m /= 1 - 0.9**step; m_hat = m", "out of a copy; `m`"),
        ("v_hat = v / (1 - 0.99**step)", "v /= 1 - 0.99**step; v_hat = v", "out of a copy; `v`"),
        ("m += 0.1 * (dp - m)", "m += 0.1 * m", "no gradient reaches it"),
        ("m += 0.1 * (dp - m)", "m += 0.9 * m + 0.1 * dp", "is added to m"),
        ("m += 0.1 * (dp - m)", "m *= 0.9; m = m + 0.1 * dp", "`m = ...` makes a new tensor"),
        (
            "v += 0.01 * (dp**2 - v)",
            "v *= 0.99; v += 0.1 * dp**2",
            "0.9 and 0.1 belong to the gradients",
        ),
        ("p -= rate * decay * p", "p -= rate * decay * m_hat", "a share of p, not of the mean"),
        ("v += 0.01 * (dp**2 - v)", "v += 0.001 * (dp**2 - v)", "not 0.999"),
        ("v += 0.01 * (dp**2 - v)", "v += 0.01 * ((dp @ dp) - v)", "fail: "),
        ("v += 0.01 * (dp**2 - v)", "v *= 0.99; v += 0.01 * dp @ dp", "each has its own"),
        ("v += 0.01 * (dp**2 - v)", "v *= 0.99; v += (0.01 * dp) ** 2", "share is squared"),
        (
            "v += 0.01 * (dp**2 - v)",
            "dp *= dp; v += 0.01 * (dp - v)",
            "dp                               | fail: it has",
        ),
        ("1e-8", "1e-7", "epsilon is another"),
        ("1e-8", "10e-8", "epsilon is another"),
        ("1e-8", "1e-5", "epsilon is another"),
        ("p -= rate * m_hat", "p = p - rate * m_hat", "change `p` in place"),
        ("p -= rate * m_hat", "p.data = p - rate * m_hat", "`p.data = ...` puts it elsewhere"),
        ("rate * m_hat", "rate * decay * m_hat", "`decay` as a factor"),
        ("rate * m_hat", "2 * rate * m_hat", "(step = 3, dp = "),
        ("p -= rate * decay * p", "p *= rate * decay", "that share is what goes"),
        ("p -= rate * decay * p", "p -= rate * decay * p**2", "not of its square"),
        ("p -= rate * decay * p", "p -= rate * decay * dp", "not of the gradient"),
        ("p -= rate * decay * p", "m_hat = m_hat + decay * p", "above the root"),
        ("1e-8)", "1e-8 + decay * p)\n    p += rate * decay * p", "fail: "),
        ("m_hat = ", "m_hat = torch.zeros(3) + ", "(step = 3)"),
        ("v_hat.sqrt() + 1e-8", "(v_hat + 1e-8).sqrt()", "epsilon is inside the root"),
        ("v_hat.sqrt() + 1e-8", "v_hat.sqrt()", "there is no epsilon"),
        ("m_hat / (v_hat.sqrt() + 1e-8)", "(m_hat / v_hat.sqrt() + 1e-8)", "no epsilon beside"),
        ("v_hat.sqrt() + 1e-8", "v_hat + 1e-8", "not by its root"),
        ("rate * m_hat /", "rate * dp /", "the running mean is expected"),
        (" / (v_hat.sqrt() + 1e-8)", "", "by the mean alone"),
        ("p -= rate * m_hat", "p += rate * m_hat", "uphill"),
        ("p -= rate * m_hat", "p -= m_hat", "the rate is missing"),
        ("m_hat / (v_hat.sqrt() + 1e-8)", "v_hat / (m_hat.abs().sqrt() + 1e-8)", "m stands above"),
        ("0.99**step", "0.9**step", "fail: "),
        ("    m += 0.1", "    dp = dp + decay * p\n    m += 0.1", "fail: "),
        ("    p -= rate * decay * p\n", "", "none: each step takes"),
        ("p -= rate * decay * p", "p -= decay * p", "without the rate"),
        ("p -= rate * decay * p", "p += rate * decay * p", "makes p grow"),
        ("p -= rate * decay * p", "p -= rate * p", "although `decay` is 0"),
        ("p -= rate * decay * p", "p -= rate * decay", "a number is taken away"),
        ("p -= rate * decay * p", "p -= rate * decay * q", "it raises NameError"),
    ],
    "rate": [
        ("peak * step / warm", "peak * (step - 1) / warm", "counts from 0"),
        (
            "    if step <= warm:\n        return peak * step / warm\n",
            "",
            "no warm-up: it falls at once",
        ),
        ("peak * step / warm", "peak", "it stays at its peak"),
        ("peak * step / warm", "step / warm", "the peak is missing"),
        ("(step - warm) / (all_steps - warm)", "step / all_steps", "begins at step 0"),
        ("(step - warm) / (all_steps - warm)", "(step - warm) / all_steps", "ends too late"),
        ("(1 + math.cos(math.pi * way)) / 2", "math.cos(math.pi * way)", "becomes negative"),
        ("math.pi * way)) / 2", "math.pi * way))", "the half is missing"),
        ("1 + math.cos", "1 - math.cos", "it climbs"),
        ("math.pi * way", "2 * math.pi * way", "a whole turn"),
        ("math.pi * way", "way", "pi is missing"),
        ("(1 + math.cos(math.pi * way)) / 2", "(1 - way)", "a straight line"),
        (
            "peak * (1 + math.cos(math.pi * way)) / 2",
            "peak / 2 * 1 + math.cos(math.pi * way)",
            "own",
        ),
        ("(1 + math.cos(math.pi * way)) / 2", "math.cos(math.pi * way) / 2", "negative: add 1"),
        ("peak * step / warm", "peak * step / all_steps", "not at the last"),
        ("peak * step / warm", "peak * (step + 1) / warm", "no need to add 1"),
        ("(step - warm) / (all_steps - warm)", "step - warm / all_steps - warm", "need brackets"),
        ("(all_steps - warm)", "(all_steps - warm - 1)", "ends a step early"),
        ("(step - warm) /", "(step - warm + 1) /", "no need to add to `step`"),
        ("1 + math.cos", "1 + math.sin", "a sine"),
        ("math.pi * way", "180 * way", "not 180"),
        ("math.cos(math.pi * way)", "math.cos(math.pi) * way", "outside of the cosine"),
        ("(1 + math.cos(math.pi * way)) / 2", "math.cos(math.pi / 2 * way)", "a quarter"),
        ("step <= warm", "step > warm", "it climbs on"),
        ("step / warm", "(step / warm) ** 2", "(step = 1, all_steps = 50"),
        ("return peak * (1", "peak * (1", "| fail: it returns nothing"),
        ("return peak * (1", "return torch.tensor(peak) * (1", "it is a tensor"),
    ],
}
CASES = [(name, *case) for name, cases in MISTAKES.items() for case in cases]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "right", "wrong", "sentence"), CASES)
def test_a_mistake_in_the_update_is_named(
    name: str,
    right: str,
    wrong: str,
    sentence: str,
    notebook: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = solved(name)
    assert right in text
    scope = dict(notebook)
    exec(text.replace(right, wrong), scope)
    judged = notebook[f"check_{name}"](scope[f"my_{name}"])
    said = capsys.readouterr().out
    assert sentence in said
    assert "the cells below use PyTorch's" in said
    assert judged is notebook[f"own_{name}"]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (("m_hat = m", "v_hat = v"), "no bias correction: both means"),
        (("m_hat = m / 0.9**step", "v_hat = v / 0.99**step"), "share of both: it is 1 less"),
        (("dp = dp + decay * p", "p -= 0"), "weight decay is in the gradient"),
    ],
)
def test_two_lines_that_belong_together_are_named_as_one_mistake(
    lines: tuple[str, str],
    sentence: str,
    notebook: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second = lines
    text = solved("adamw")
    if first.startswith("dp"):
        text = text.replace("    m += 0.1", f"    {first}\n    m += 0.1")
        text = text.replace("p -= rate * decay * p", second)
    else:
        text = text.replace("m_hat = m / (1 - 0.9**step)", first)
        text = text.replace("v_hat = v / (1 - 0.99**step)", second)
    scope = dict(notebook)
    exec(text, scope)
    notebook["check_adamw"](scope["my_adamw"])
    assert sentence in capsys.readouterr().out


def decay_first(p, dp, m, v, step, rate, decay):  # type: ignore[no-untyped-def]
    m.mul_(0.9).add_(dp, alpha=0.1)
    v.mul_(0.99).addcmul_(dp, dp, value=0.01)
    p.mul_(1 - rate * decay)
    p.addcdiv_(m / (1 - 0.9**step), (v / (1 - 0.99**step)).sqrt() + 1e-8, value=-rate)


def both_at_once(p, dp, m, v, step, rate, decay):  # type: ignore[no-untyped-def]
    m.lerp_(dp, 0.1)
    v.lerp_(dp.square(), 0.01)
    move = m / (1 - 0.9**step) / (torch.sqrt(v / (1 - 0.99**step)) + 1e-8)
    p.copy_(p - rate * (move + decay * p))


def decay_last(p, dp, m, v, step, rate, decay):  # type: ignore[no-untyped-def]
    m.lerp_(dp, 0.1)
    v.lerp_(dp.square(), 0.01)
    p.sub_(rate * m / (1 - 0.9**step) / (torch.sqrt(v / (1 - 0.99**step)) + 1e-8))
    p.mul_(1 - rate * decay)


def means_last(p, dp, m, v, step, rate, decay):  # type: ignore[no-untyped-def]
    p.mul_(1 - rate * decay)
    p.addcdiv_(m / (1 - 0.9**step), (v / (1 - 0.99**step)).sqrt() + 1e-8, value=-rate)
    m.lerp_(dp, 0.1)
    v.lerp_(dp.square(), 0.01)


def all_rebound(p, dp, m, v, step, rate, decay):  # type: ignore[no-untyped-def]
    m = m.lerp(dp, 0.1)
    v = v.lerp(dp.square(), 0.01)
    p = p - rate * decay * p


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (decay_last, "weight decay                     | fail: it takes its share of `p` after"),
        (means_last, "the step                         | fail: it goes by the means as they were"),
        (all_rebound, "fail: it still is what it was: what you computed is a new tensor"),
    ],
)
def test_an_update_in_the_wrong_order_or_place_is_named(
    function: Callable[..., Any],
    sentence: str,
    notebook: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert notebook["check_adamw"](function) is notebook["own_adamw"]
    said = capsys.readouterr().out
    assert sentence in said
    assert "to do" not in said


def clip_one_vector(gradients, most):  # type: ignore[no-untyped-def]
    norm = torch.cat([each.flatten() for each in gradients]).norm()
    for each in gradients:
        each.mul_((most / norm).clamp(max=1))
    return float(norm)


@pytest.mark.parametrize(
    ("name", "function"),
    [("adamw", decay_first), ("adamw", both_at_once), ("clip", clip_one_vector)],
)
def test_a_right_update_in_another_style_passes(
    name: str,
    function: Callable[..., Any],
    notebook: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert notebook[f"check_{name}"](function) is function
    assert "fail" not in capsys.readouterr().out


def test_the_cases_in_the_hints_are_right(notebook: dict[str, Any]) -> None:
    gradients = [torch.tensor([3.0, 0]), torch.tensor([0, 4.0])]
    assert notebook["my_clip"](gradients, 6) == 5
    assert torch.cat(gradients).tolist() == [3, 0, 0, 4]
    assert notebook["my_clip"](gradients, 1) == 5
    assert torch.cat(gradients).tolist() == pytest.approx([0.6, 0, 0, 0.8])
    p, dp, m, v = (torch.tensor([each], dtype=torch.float64) for each in (1, 2, 0, 0))
    notebook["my_adamw"](p, dp, m, v, 1, 0.1, 0.5)
    assert [p.item(), m.item(), v.item()] == pytest.approx([0.85, 0.2, 0.04])
    rates = [notebook["my_rate"](step, 50, 10, 0.3) for step in (1, 10, 30, 50)]
    assert rates == pytest.approx([0.03, 0.3, 0.15, 0])


@pytest.mark.parametrize("name", ["clip", "adamw", "rate"])
def test_a_blank_function_is_to_do(
    name: str, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    def blank(*arguments: object) -> None: ...

    assert notebook[f"check_{name}"](blank) is notebook[f"own_{name}"]
    said = capsys.readouterr().out
    assert said.count("to do") == len(said.strip().splitlines()) - 1


def test_a_training_that_was_stopped_ends_as_one_that_was_not(
    notebook: dict[str, Any], tmp_path: Any
) -> None:
    whole, stopped = notebook["begin_run"](), notebook["begin_run"]()
    notebook["train"](whole, STEPS)
    notebook["train"](stopped, STEPS // 2)
    notebook["save"](stopped, tmp_path / "run.pt")
    resumed = notebook["resume"](tmp_path / "run.pt")
    assert resumed.step == STEPS // 2
    notebook["train"](resumed, STEPS)
    assert all(
        torch.equal(getattr(whole, part), getattr(resumed, part)) for part in ("flat", "m", "v")
    )
    assert (whole.losses, whole.norms) == (resumed.losses, resumed.norms)
    assert whole.losses[-1] < whole.losses[0] - 0.5


def test_by_hand_means_without_the_engine(notebook: dict[str, Any]) -> None:
    assert sum(notebook["SIZES"]) <= 15_000
    assert not any("backward()" in source or "requires_grad" in source for source in SOURCES)
    text = inspect.getsource(COMMAND)
    assert "backward()" not in text.replace("without loss.backward()", "")


def test_the_command_prints_losses_and_twenty_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEMORE_NAMES", "bundled")
    monkeypatch.setenv(COMMAND.STEPS, "1")  # to be put back afterwards
    finished = CliRunner().invoke(COMMAND.main, ["--steps", "10"])
    assert finished.exit_code == 0, finished.output
    lines = finished.output.splitlines()
    (first,) = [n for n, line in enumerate(lines) if line.startswith("10 steps by hand")]
    assert lines[first + 1].startswith("training loss")
    assert lines[first + 2].startswith("validation loss")
    assert len(lines[first + 3 :]) == 20
