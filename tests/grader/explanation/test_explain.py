"""`explain`: a forward and a backward function give verdicts, with the reasons."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Annotated, Any

import nbclient
import nbformat
import pytest
import torch
from torch import Tensor

from grader import Constant, Explanation, assert_gradients, explain
from grader.reports import wording
from grader.verdict import Outcome
from tests.grader.explanation import norms


def outcomes(explanation: Explanation) -> dict[str, str]:
    return {verdict.name: str(verdict.outcome) for verdict in explanation.verdicts}


def line_of(text: str, after: str = "") -> int:
    """The number of a line in the file of functions, the first one behind another text."""
    source = Path(norms.__file__).read_text(encoding="utf-8")
    return source.count("\n", 0, source.index(text, source.index(after))) + 1


def test_a_right_backward_passes_step_by_step() -> None:
    explanation = explain(norms.rms_norm, norms.right)
    assert explanation.ok
    assert outcomes(explanation) == {"dxhat": "pass", "dx": "pass", "dgain": "pass"}


def test_what_is_right_and_not_returned_is_told() -> None:
    explanation = explain(norms.rms_norm, norms.returns_a_part)
    said = {verdict.name: wording.note(verdict) for verdict in explanation.verdicts}
    assert said == {"dxhat": "", "dx": "", "dgain": wording.ROWS["not-returned"]}
    assert outcomes(explanation)["dgain"] == "todo"


def test_a_wrong_line_is_found_in_its_own_file() -> None:
    explanation = explain(norms.rms_norm, norms.lost_factor)
    assert not explanation.ok
    assert outcomes(explanation) == {"dxhat": "pass", "dx": "fail", "dgain": "pass"}
    (wrong,) = (one for one in explanation.verdicts if one.outcome is Outcome.FAIL)
    assert wrong.diagnosis[0].kind == "missing-factor"
    assert wrong.place is not None
    assert wrong.place.cell.endswith("norms.py")
    assert wrong.place.line == line_of("dx = dxhat * inv - ")
    assert wrong.code == "dx = dxhat * inv - xhat * (dxhat * xhat).mean(1, keepdim=True)"


@pytest.mark.parametrize(
    ("backward", "line", "said"),
    [
        (norms.misspelled, "y = torch.sigmiod(x)", "raised AttributeError: module 'torch' has no"),
        (norms.imported, "from torch import sigmiod", "raised ImportError: cannot import name"),
        (norms.looked_up, 'dx = dy * eval("y")', "raised NameError: name 'y' is not defined"),
        (norms.beside, "assert dx is None", "raised AssertionError: no message"),
    ],
)
def test_what_raises_on_every_call_is_an_error(backward: Any, line: str, said: str) -> None:
    (verdict,) = explain(norms.gate_alone, backward).verdicts
    assert (verdict.outcome, said in wording.note(verdict)) == (Outcome.ERROR, True)
    assert verdict.place is not None
    assert verdict.place.line == line_of(line)
    with pytest.raises(AssertionError, match="dx: error"):
        assert_gradients(norms.gate_alone, backward)


@pytest.mark.parametrize("backward", [norms.small_zeros, norms.small_twice, norms.small_negative])
def test_a_small_gradient_can_be_wrong(backward: Any) -> None:
    assert explain(norms.charge, norms.small).ok
    (verdict,) = explain(norms.charge, backward).verdicts
    assert (verdict.outcome, verdict.comparison.approximate) == (Outcome.FAIL, False)


@pytest.mark.parametrize("backward", [norms.reads_without_asking, norms.unasked_and_wrong])
def test_values_of_the_forward_pass_come_through_parameters_only(backward: Any) -> None:
    verdicts = {one.name: one for one in explain(norms.rms_norm, backward).verdicts}
    assert verdicts["dgain"].outcome is Outcome.ERROR
    assert "raised NameError" in wording.note(verdicts["dgain"])
    assert "can be a parameter" in wording.note(verdicts["dgain"])


def test_the_slope_of_a_sigmoid_is_no_mistake_of_a_sigmoid() -> None:
    verdicts = explain(norms.gate, norms.slope_of_the_input).verdicts
    (wrong,) = (one for one in verdicts if one.outcome is Outcome.FAIL)
    assert wrong.diagnosis[0].message == "This slope is taken at the wrong tensor: `x`."


def test_that_of_a_rectifier_is_none_of_a_rectifier() -> None:
    verdicts = explain(norms.rectified, norms.wrong_side_of_zero).verdicts
    (wrong,) = (one for one in verdicts if one.outcome is Outcome.FAIL)
    assert wrong.diagnosis[0].message == "`x` is the wrong tensor here."


def test_a_right_line_that_was_handed_a_wrong_gradient_is_carried() -> None:
    explanation = explain(norms.rms_norm, norms.wrong_above)
    assert outcomes(explanation) == {"dxhat": "fail", "dx": "carried", "dgain": "pass"}
    (carried,) = (one for one in explanation.verdicts if one.name == "dx")
    assert "see dxhat" in wording.note(carried)


def test_a_helper_is_not_judged_by_its_name_where_what_is_made_of_it_is_right() -> None:
    explanation = explain(norms.rms_norm, norms.helper_without_the_gain)
    assert explanation.ok
    assert [(one.name, wording.note(one)) for one in explanation.verdicts] == [
        ("dx", "dxhat is a helper here, not the gradient of xhat."),
        ("dgain", ""),
    ]


@pytest.mark.parametrize(("factor", "outcome"), [(1, "pass"), (2, "fail")])
def test_what_has_another_shape_than_its_name_says_is_a_helper(factor: int, outcome: str) -> None:
    def scores(x: norms.Rows) -> Tensor:
        score = (x**2).sum(1)
        loss = score.mean()
        return loss

    def backward(dloss: Any, x: Any) -> Any:
        dscore = factor * dloss / len(x)
        dx = dscore * 2 * x
        return {"dx": dx}

    assert outcomes(explain(scores, backward)) == {"dx": outcome}


def test_what_leads_to_nothing_is_judged_by_its_name() -> None:
    explanation = explain(norms.rms_norm, norms.unused_and_wrong)
    assert outcomes(explanation) == {"dxhat": "fail", "dx": "pass", "dgain": "pass"}


def test_a_name_that_is_missing_is_not_looked_for_in_answer_cells() -> None:
    def unknown(dout: Any, xhat: Any) -> Any:
        dgain = (dout * nowhere).sum(0)  # type: ignore[name-defined]  # noqa: F821
        return {"dgain": dgain}

    verdict, _ = explain(norms.rms_norm, unknown).verdicts
    assert wording.note(verdict) == (
        "This line raised NameError: name 'nowhere' is not defined. Define it in this function, or"
        " ask for it: an input, a step or a size of the forward pass can be a parameter."
    )


@pytest.mark.parametrize(
    ("backward", "gradients"),
    [
        (norms.only_assigns, ["dx", "dgain"]),
        (norms.one_expression, ["dx", "dgain"]),
        (norms.dictionary, ["dx", "dgain"]),
        (norms.in_a_list, ["dx", "dgain"]),
        (norms.two_returns, ["dx", "dgain"]),
        (norms.RMSNorm, ["dxhat", "dx", "dgain"]),
    ],
)
def test_gradients_may_be_assigned_or_returned_in_many_ways(
    backward: Any, gradients: list[str]
) -> None:
    assert outcomes(explain(norms.rms_norm, backward)) == dict.fromkeys(gradients, "pass")


def test_the_rows_stand_in_the_order_of_the_answer() -> None:
    rows = [one.name for one in explain(norms.rms_norm, norms.lost_factor).verdicts]
    assert rows == ["dgain", "dxhat", "dx"]
    returned = [one.name for one in explain(norms.rms_norm, norms.one_expression).verdicts]
    assert returned == ["dx", "dgain"]


def test_what_is_returned_is_what_counts() -> None:
    """`dx` was the other one's gradient until it was returned as its own."""
    assert explain(norms.rms_norm, norms.swapped).ok


def test_each_returned_expression_is_found_in_its_own_line() -> None:
    (dx, dgain) = explain(norms.rms_norm, norms.one_expression).verdicts
    first = line_of("inv * (g - xhat", "def one_expression")
    assert dx.place is not None
    assert dgain.place is not None
    assert (dx.place.line, dgain.place.line) == (first, first + 1)


def test_a_line_that_raises_is_named() -> None:
    verdicts = {one.name: one for one in explain(norms.rms_norm, norms.raises).verdicts}
    assert verdicts["dgain"].outcome is Outcome.PASS
    assert verdicts["dx"].outcome is Outcome.ERROR
    assert verdicts["dx"].place is not None
    assert verdicts["dx"].place.line == line_of("dx = dout @ xhat")
    assert "raised RuntimeError" in wording.note(verdicts["dx"])
    assert "from outside" not in wording.note(verdicts["dx"])


def test_a_tensor_from_outside_is_named_where_it_does_not_fit() -> None:
    verdicts = explain(norms.rms_norm, norms.reads_from_outside).verdicts
    notes = {one.name: wording.note(one) for one in verdicts}
    said = "`OUTSIDE` is not one of the tensors that reads_from_outside is given"
    assert said in notes["dx"]
    assert notes["dgain"] == ""


def test_a_custom_function_is_judged_by_what_it_returns() -> None:
    explanation = explain(norms.rms_norm, norms.WrongAxis)
    assert outcomes(explanation) == {"dxhat": "pass", "dx": "fail", "dgain": "pass"}
    assert explanation.verdicts[1].diagnosis[0].kind == "wrong-axis"
    assert explanation.verdicts[1].place is not None
    assert explanation.verdicts[1].place.line == line_of("grad_x = inv", "class WrongAxis")


def test_several_results_and_whole_numbers() -> None:
    assert outcomes(explain(norms.rows_of, norms.rows_of_backward)) == {"dtable": "pass"}


def test_a_loss_has_the_gradient_1_if_nobody_asks_for_it() -> None:
    assert explain(norms.cross_entropy, norms.cross_entropy_backward).ok

    def scaled(dloss: Any, logits: Any, target: Any, n: int) -> Any:
        return dloss * norms.cross_entropy_backward(logits, target, n)

    def unscaled(dloss: Any, logits: Any, target: Any, n: int) -> Any:
        return norms.cross_entropy_backward(logits, target, n)

    assert explain(norms.cross_entropy, scaled).ok
    assert not explain(norms.cross_entropy, unscaled).ok


def test_a_custom_function_is_handed_a_gradient_of_its_loss_too() -> None:
    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, logits: Any, target: Any) -> Any:
            ctx.save_for_backward(logits, target)
            return torch.nn.functional.cross_entropy(logits, target)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            logits, target = ctx.saved_tensors
            return norms.cross_entropy_backward(logits, target, len(logits)), None

    (verdict,) = explain(norms.cross_entropy, Loss).verdicts
    assert verdict.outcome is Outcome.FAIL


def test_a_size_of_one_leaves_one_index() -> None:
    assert explain(norms.rows_of, norms.rows_of_backward, sizes={"v": 1}).ok


def test_inputs_are_drawn_by_a_function_where_annotations_cannot_say() -> None:
    assert explain(norms.root, norms.root_backward, inputs=norms.positive).ok
    with pytest.raises(ValueError, match="gives NaN for some numbers: draw others"):
        explain(norms.root, norms.root_backward)


def test_a_size_is_fixed() -> None:
    met = set()

    def watched(dy: Any, y: Any, d: int, n: int) -> Any:
        met.add((n, d))
        return dy / (2 * y)

    assert explain(norms.root, watched, inputs=norms.positive, sizes={"d": 7}).ok
    assert {d for _, d in met} == {7}
    assert len({n for n, _ in met}) > 1
    assert all(n != 7 for n, _ in met)


def test_the_callers_own_globals_and_closures_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    two = 2
    xhat = "the caller's own, which is no step"

    def with_closure(dy: Any, y: Any) -> Any:
        assert xhat
        return dy / (two * y)

    assert explain(norms.root, with_closure, inputs=norms.positive).ok


def test_nothing_of_the_callers_state_is_changed() -> None:
    torch.manual_seed(3)
    random.seed(3)
    before = torch.get_rng_state(), random.getstate(), torch.get_default_dtype()
    float32 = torch.float32
    explain(norms.rms_norm, norms.lost_factor)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (random.getstate(), torch.get_default_dtype()) == before[1:]
    assert torch.float32 is float32
    assert torch.is_grad_enabled()


def test_the_same_seed_gives_the_same_explanation() -> None:
    one, other = (explain(norms.rms_norm, norms.lost_factor, seed=5) for _ in range(2))
    assert one.to_json() == other.to_json()


def test_assert_gradients_says_why() -> None:
    assert_gradients(norms.rms_norm, norms.right)
    with pytest.raises(AssertionError) as failure:
        assert_gradients(norms.rms_norm, norms.lost_factor)
    summary, _, explained = str(failure.value).partition("\n\n")
    line = line_of("dx = dxhat * inv - ")
    assert summary.startswith("dx: fail in "), "pytest's last lines show the first one alone"
    assert summary.endswith(f"norms.py, line {line}")
    assert explained == str(explain(norms.rms_norm, norms.lost_factor))
    assert "A factor is missing beside this expression." in str(failure.value)


def test_an_explanation_is_shown_as_text_json_and_html() -> None:
    explanation = explain(norms.rms_norm, norms.lost_factor)
    text = str(explanation)
    assert text.splitlines()[0].startswith("lost_factor")
    assert "2 of 3 right by themselves" in text
    document = json.loads(explanation.to_json())
    assert document["ok"] is False
    assert document["forward"] == "rms_norm"
    assert [one["verdict"] for one in document["gradients"]] == ["pass", "pass", "fail"]
    html = explanation._repr_html_()
    assert "lost_factor" in html
    assert "A factor is missing beside this expression." in html
    assert "<script" not in html


CELL = """from typing import Annotated
from torch import Tensor
from grader import explain

def double(x: Annotated[Tensor, "n"]):
    y = 2 * x
    return y

def double_backward(dy):
    dx = 3 * dy
    return dx

explanation = explain(double, double_backward)
print(explanation)
explanation"""


@pytest.mark.slow
def test_in_a_notebook_it_is_a_text_and_a_card() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    printed, card = notebook.cells[0].outputs
    line = CELL[: CELL.index("dx = 3")].count("\n") + 1
    assert f"its cell, line {line}" in printed["text"]
    assert card["data"]["text/plain"].strip() == printed["text"].strip()
    assert f"its cell, line {line}" in card["data"]["text/html"]


def low_rank(
    x: Annotated[Tensor, "n, i", Constant],
    B: Annotated[Tensor, "o, r"],
    A: Annotated[Tensor, "r, i"],
) -> Tensor:
    scale = 4 / A.shape[0]
    W = B @ A
    scaled = scale * W
    y = x @ scaled.T
    return y


def test_a_factor_is_told_by_the_size_that_makes_it() -> None:
    def without_the_scale(dy: Any, x: Any, A: Any, B: Any) -> Any:
        dscaled = dy.T @ x
        return {"dB": dscaled @ A.T, "dA": B.T @ dscaled}

    for verdict in explain(low_rank, without_the_scale).verdicts:
        if verdict.name != "dscaled":
            said = f"`{verdict.name}` is 1.25 (0.25 * r) times what it should be."
            assert verdict.diagnosis[0].message == said


def close_calls(gap: Annotated[Tensor, "n"]) -> Tensor:
    hinge = gap.clamp(min=0)
    loss = hinge.mean()
    return loss


def test_there_are_examples_enough_to_be_near_a_bound() -> None:
    def another_bound(gap: Any, n: Any) -> Any:
        dgap = (gap > -0.05).to(gap.dtype) / n
        return dgap

    assert not explain(close_calls, another_bound).ok


def clipped(x: Annotated[Tensor, "n, d"], w: Annotated[Tensor, "k, d"]) -> Tensor:
    h = (x + 3).clamp(0, 6)
    y = (x * h) @ w.T
    return y


@pytest.mark.parametrize(
    ("low", "high", "is_right"),
    [(-3, 3, True), (-3, torch.inf, False), (-torch.inf, 3, False)],
)
def test_some_inputs_are_so_large_that_clamps_clip(low: float, high: float, is_right: bool) -> None:
    def backward(dy: Any, x: Any, w: Any, h: Any) -> Any:
        inside = (x > low) & (x < high)
        return (dy @ w) * (h + x * inside), dy.T @ (x * h)

    assert explain(clipped, backward).ok == is_right


def test_no_input_is_so_large_that_a_right_formula_overflows() -> None:
    def powers(x: Annotated[Tensor, "n, d"]) -> Tensor:
        a = (x**2).exp()
        b = a.exp().softmax(1)
        y = b * a
        return y

    def backward(dy: Any, x: Any, a: Any, b: Any) -> Any:
        db = dy * a
        da = dy * b + b * (db - (b * db).sum(1, keepdim=True)) * a.exp()
        return da * 2 * x * a

    assert explain(powers, backward, seed=3).ok


def test_float_in_a_forward_pass_means_float64() -> None:
    def single(x: Annotated[Tensor, "n, d"]) -> Tensor:
        y = x.float()
        z = y.tanh()
        return z

    def backward(dz: Any, z: Any) -> Any:
        return dz * (1 - z**2)

    (verdict,) = explain(single, backward).verdicts
    assert (verdict.outcome, wording.note(verdict)) == (Outcome.PASS, "")


def thrice(x: Annotated[Tensor, "n, d"], w: Annotated[Tensor, "d"]) -> Tensor:
    a = x * w
    b = a * w
    c = b * w
    return c


def test_a_loop_may_make_another_gradient_and_what_this_one_is_made_of() -> None:
    def handed_on_wrongly(dc: Any, x: Any, w: Any, a: Any, b: Any) -> Any:
        dw = torch.zeros_like(w)
        g = dc
        for h in (b, a, x):
            dw += (g * h).sum(0)
            g = g / w
        dx = g.clone()
        return dx, dw

    for verdict in explain(thrice, handed_on_wrongly).verdicts:
        assert verdict.diagnosis[0].kind == "operator"
        assert "`g / w`" in verdict.diagnosis[0].message
