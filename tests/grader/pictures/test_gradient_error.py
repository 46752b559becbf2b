import math

import pytest
import torch

from grader.pictures.gradient_error import in_digits, measure_error


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int64, torch.bool])
def test_any_real_dtype_is_compared_in_float64(dtype: torch.dtype) -> None:
    student = torch.ones(2, 3, dtype=dtype)
    measured = measure_error(student, torch.zeros(2, 3, requires_grad=True))

    assert measured.error.dtype == "float64"
    assert measured.largest == 1.0
    assert measured.worst == (0, 0)


def test_the_error_is_student_minus_reference() -> None:
    measured = measure_error(torch.tensor([[1.0, 2.0]]), torch.tensor([[1.5, 0.0]]))

    assert measured.error.tolist() == [[-0.5, 2.0]]
    assert measured.worst == (0, 1)
    assert not measured.is_right


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_gradient_with_an_entry_that_is_no_number_is_not_right(value: float) -> None:
    measured = measure_error(torch.tensor([0.0, value]), torch.tensor([0.0, 0.0]))

    assert measured.broken == 1
    assert measured.worst == (0,)
    assert not measured.is_right


def test_digits_have_a_true_minus_sign() -> None:
    assert in_digits(-0.000012345) == "−1.23e−05"
