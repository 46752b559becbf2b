"""A student's afternoon with each notebook: blank, half right, mended."""

from collections.abc import Iterable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Answers
from tests.browser.lab import LOOKS, Cell, Lab, Notebook

pytestmark = pytest.mark.browser


def run_blank(notebook: Notebook) -> None:
    """Run a blank notebook from top to bottom: all is to do, nothing is wrong."""
    notebook.run_all()
    assert notebook.troubles == []
    assert notebook.checks
    for check in notebook.checks:
        assert set(notebook.verdicts(check).values()) == {"to do"}, check


def look_around(lab: Lab, notebook: Notebook, looks: Iterable[str] = LOOKS, **motifs: Cell) -> None:
    """In these looks: nothing is cut off, and there is a picture for somebody to look at."""
    for look in looks:
        notebook.take_on(look)
        assert notebook.cut_off == [], look
        for motif, cell in motifs.items():
            cell.photograph(lab.pictures / f"{notebook.name}-{motif}-{look}.png")
    assert notebook.troubles == []


def test_atomic_backprop(lab: Lab, right: Answers) -> None:
    answers = right("ex1/right/lecture")
    softmax = answers["ex1-softmax"]
    second_branch = "dcounts += torch.ones_like(counts) * dcounts_sum\n"
    assert second_branch in softmax

    with lab.open("01_atomic_backprop") as notebook:
        run_blank(notebook)
        board = notebook.cell("board()", index=1)
        assert board.board.startswith("0 of 26 points. to do: dlogprobs, ")

        # The first answer is right.
        notebook.write({"ex1-loss": answers["ex1-loss"]})
        assert notebook.run_check("ex1-loss") == {"dlogprobs": "pass"}
        board.run()
        assert board.board.startswith("1 of 26 points. pass: dlogprobs; to do: dprobs, ")

        # In the second, a branch is missing; the third is right, but handed a wrong gradient.
        notebook.write({"ex1-softmax": softmax.replace(second_branch, "")})
        assert notebook.run_check("ex1-softmax") == {
            "dprobs": "pass",
            "dcounts_sum_inv": "pass",
            "dcounts_sum": "pass",
            "dcounts": "fail",
        }
        below = notebook.check("ex1-softmax").output
        expect(below).to_contain_text("dcounts = counts_sum_inv * dprobs")
        notebook.write({"ex1-max": answers["ex1-max"]})
        assert notebook.run_check("ex1-max")["dnorm_logits"] == "carried"
        board.run()
        assert "; carried: dnorm_logits" in board.board
        assert "; fail: dcounts; to do: " in board.board
        error = notebook.check("ex1-softmax").insert_below('heat_map("dcounts")')
        error.run()
        error_before = error.picture
        look_around(lab, notebook, wrong=notebook.check("ex1-softmax"), error=error, board=board)

        # Mended.
        notebook.write({"ex1-softmax": softmax, "ex1-max": answers["ex1-max"]})
        assert set(notebook.run_check("ex1-softmax").values()) == {"pass"}
        assert set(notebook.run_check("ex1-max").values()) == {"pass"}
        expect(below).not_to_contain_text("dcounts = counts_sum_inv * dprobs")
        board.run()
        assert "fail" not in board.board
        error.run()
        assert error.picture != error_before
        assert notebook.troubles == []


def test_fused_cross_entropy(lab: Lab, right: Answers) -> None:
    answers = right("ex2/right/one_expression") | right("ex2s/right/one_expression")
    dlogits = answers["ex2-dlogits"]
    assert ") / n" in dlogits

    with lab.open("02_fused_cross_entropy") as notebook:
        run_blank(notebook)

        notebook.write({"ex2-dlogits": dlogits.replace(") / n", ")")})
        assert notebook.run_check("ex2-dlogits") == {"dlogits": "fail"}
        look_around(lab, notebook, wrong=notebook.check("ex2-dlogits"))

        notebook.write(answers)
        assert notebook.run_check("ex2-dlogits") == {"dlogits": "pass"}
        assert notebook.run_check("ex2s-smoothing") == {"dz": "pass"}

        # A cell that was split is graded whole: neither half is right without the other.
        first = "# answer: ex2-dlogits\ndlogits = F.softmax(logits, 1)"
        second = "dlogits[range(n), Yb] -= 1\ndlogits /= n"
        answer = notebook.answer("ex2-dlogits")
        answer.type(f"{first}\n{second}")
        answer.split(above=2)
        notebook.answer("ex2-dlogits").run()
        notebook.cell("dlogits[range(n), Yb] -= 1").run()
        assert notebook.run_check("ex2-dlogits") == {"dlogits": "pass"}
        assert notebook.troubles == []


def test_fused_batchnorm(lab: Lab, right: Answers) -> None:
    answers = right("ex3/right/derivation")
    dhprebn = answers["ex3-batchnorm"]
    assert "n / (n - 1) * xhat" in dhprebn

    with lab.open("03_fused_batchnorm") as notebook:
        run_blank(notebook)
        board = notebook.cell("board()")
        assert board.board.startswith("0 of 6 points.")

        # Without Bessel's correction.
        notebook.write(answers | {"ex3-batchnorm": dhprebn.replace("n / (n - 1) * xhat", "xhat")})
        assert notebook.run_check("ex3-scale") == {"dbngain": "pass", "dbnbias": "pass"}
        assert notebook.run_check("ex3-batchnorm") == {"dhprebn": "fail"}
        board.run()
        assert board.board.endswith("; fail: dhprebn")
        look_around(lab, notebook, wrong=notebook.check("ex3-batchnorm"), board=board)

        notebook.write({"ex3-batchnorm": dhprebn})
        assert notebook.run_check("ex3-batchnorm") == {"dhprebn": "pass"}
        board.run()
        assert board.board.startswith("6 of 6 points: every gradient passes.")
        assert notebook.troubles == []


def test_manual_training(lab: Lab, right: Answers) -> None:
    answers = right("ex4/right/notebook")
    output = answers["ex4-output"]
    assert "db2 = dlogits.sum(0)" in output
    rest = [name for name in answers if name != "ex4-output"]

    with lab.open("04_manual_training") as notebook:
        run_blank(notebook)
        training, board = notebook.cell("check_training()"), notebook.cell('board("ex4")')
        expect(training.output).to_contain_text("to do")
        assert board.board.startswith("0 of 13 points.")

        wrong = {"ex4-output": output.replace("dlogits.sum(0)", "dlogits.mean(0)")}
        notebook.write(answers | wrong)
        verdicts = notebook.run_check("ex4-output")
        assert verdicts.pop("db2") == "fail"
        assert set(verdicts.values()) == {"pass"}
        for name in rest:
            assert set(notebook.run_check(name).values()) == {"pass"}
        training.run()
        expect(training.output).to_contain_text("| fail")
        board.run()
        assert board.board.endswith("; fail: db2")

        notebook.write({"ex4-output": output})
        assert set(notebook.run_check("ex4-output").values()) == {"pass"}
        training.run()
        expect(training.output).to_contain_text("| pass")
        expect(training.output).not_to_contain_text("| fail")
        board.run()
        assert board.board.startswith("13 of 13 points: every gradient passes.")

        # Train with it, a little.
        notebook.cell("backward = my_backward()").run()
        loop = notebook.cell("until = ")
        loop.type(loop.source.replace("until = 10_000", "until = 1_000"))
        loop.run()
        expect(loop.output).to_contain_text("1,000 of 200,000 steps")
        assert loop.picture
        look_around(lab, notebook, training=training, board=board, loss=loop)


ENCORE = {
    "05_attention": ("encore/ex5f/right/row_sums", "ex5f-fused"),
    "06_block": ("encore/ex6e/right/index_put", "ex6e-tables"),
    "07_training": ("encore/ex7/right/steps", "ex7-loss"),
}
"""Of a notebook a right answer, and its cell."""


@pytest.mark.parametrize("name", ENCORE)
def test_encore(name: str, lab: Lab, right: Answers) -> None:
    answer, cell = ENCORE[name]
    with lab.open(name) as notebook:
        run_blank(notebook)
        board = notebook.cell(f'board("{cell.partition("-")[0]}")')
        assert board.board.startswith("0 of ")
        assert notebook.cut_off == []
        notebook.write({cell: right(answer)[cell]})
        assert set(notebook.run_check(cell).values()) == {"pass"}
        board.run()
        assert "passes. pass: " in board.board
        look_around(lab, notebook, looks=("narrow",), check=notebook.check(cell), board=board)
