"""Where an answer asks autograd, or reads what it has answered."""

import pytest

from grader.answer.parse import AnswerCell, parse_answer
from grader.answer.suspicion import AUTOGRAD, Suspicion, find_suspicions


def offences(source: str) -> list[Suspicion]:
    answer = parse_answer([AnswerCell("ex1-loss", source)])
    assert not answer.broken, answer.broken
    return [one for one in find_suspicions(answer) if one.kind in AUTOGRAD]


def offending_lines(source: str) -> list[int]:
    places = (one.flag.place for one in offences(source))
    return list(dict.fromkeys(place.line for place in places if place))


@pytest.mark.parametrize(
    "line",
    [
        "dC = C.grad",
        "loss.backward()",
        "loss.backward(retain_graph=True)",
        "dC = torch.autograd.grad(loss, C)[0]",
        "dC = torch.autograd.functional.jacobian(f, C)",
        "dC = torch.func.grad(f)(C)",
        "dC = torch.func.vjp(f, C)[1](one)[0]",
        "C.requires_grad_()",
        "C.requires_grad = True",
        "x = torch.zeros(3, requires_grad=True)",
        "h.register_hook(keep)",
        "h.retain_grad()",
        "with torch.enable_grad(): loss = f(C)",
        "torch.set_grad_enabled(True)",
        "C.requires_grad_(True)",
        "C.requires_grad_(flag)",
        "C.requires_grad_(requires_grad=True)",
        "torch.set_grad_enabled(flag)",
        "dh = torch.ops.aten.tanh_backward(dh, h)",
        "dlogits = torch._softmax_backward_data(d, p, 1, p.dtype)",
        "dh = torch._C._nn.gelu_backward(dh, h)",
        'dC = getattr(C, "grad")',
        'getattr(loss, "backward")()',
        'dC = operator.attrgetter("grad")(C)',
        'operator.methodcaller("backward")(loss)',
        'dC = C.__getattribute__("grad")',
        'ag = __import__("torch.autograd")',
        'ag = importlib.import_module("torch.autograd")',
        'dC = torch.__dict__["autograd"].grad(loss, C)',
        'dC = vars(torch)["autograd"].grad(loss, C)',
        "from torch.autograd import grad",
        "from torch.autograd import grad as derivative",
        "from torch import autograd as mathematics",
        "import torch.autograd as mathematics",
        "import torch.autograd.functional",
        "from torch.func import vjp as product",
        "import functorch",
        "run = loss.backward",
        "dC = (lambda t: t.grad)(C)",
        "dC = [t.grad for t in (C,)][0]",
        "def f(t): return t.grad",
    ],
)
def test_autograd_is_found_with_its_line(line: str) -> None:
    assert offending_lines(f"x = 1\n\n{line}\ny = 2") == [3]


@pytest.mark.parametrize(
    "line",
    [
        "# the grad of C, as loss.backward() would give it",
        'print("C.grad and loss.backward()")',
        "my_grad = dlogits.clone()",
        "grad = dlogits; backward = grad",
        "def backward(grad): return grad * 2",
        "grads = {'logits': dlogits}; dlogits = grads['logits']",
        "with torch.no_grad(): dh = dlogits @ W2.T",
        "with torch.inference_mode(): dh = dlogits @ W2.T",
        "assert not dlogits.requires_grad",
        "x = torch.zeros(3, requires_grad=False)",
        "C.requires_grad = False",
        "C.grad = None",
        "from torch.func import vmap",
        "x = torch.func.vmap(torch.outer)(h, dlogits)",
        "C.requires_grad_(False)",
        "C.requires_grad_(requires_grad=False)",
        "torch.set_grad_enabled(False)",
        "with torch.set_grad_enabled(mode=False): dh = dlogits @ W2.T",
        "dh = F.linear(dlogits, W2)",
        "from functools import reduce",
        'dh = getattr(dlogits, "clone")()',
        "class Layer:\n    def backward(self, d): return d\ndh = Layer().backward(dlogits)",
        "class Node:\n    def __init__(self): self.grad = 0.0\nnode = Node(); node.grad += 1",
        "class Node:\n    grad = 0.0\nnode = Node(); node.grad += 1",
    ],
)
def test_the_words_alone_are_no_offence(line: str) -> None:
    assert offending_lines(line) == []


def test_a_students_own_backward_does_not_hide_the_losss() -> None:
    source = "class Layer:\n    def backward(self, d): return d\nloss.backward()"
    assert offending_lines(source) == [3]


def test_the_line_is_that_inside_a_function_or_loop() -> None:
    source = (
        "def outer():\n    x = 1\n    return C.grad\nfor i in range(3):\n    y = 2\n    z = C.grad"
    )
    assert offending_lines(source) == [3, 6]


def test_the_message_names_what_was_used() -> None:
    ((kind, statement, flag),) = offences("x = 1\ndC = C.grad")
    assert (kind, statement, flag.kind) == ("grad", 1, "autograd")
    assert flag.message == (
        "`.grad`: PyTorch's autograd is switched off here; write the gradient by hand."
    )


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("print(dC - C.grad, C.grad_fn)", "grad"),
        ('print(getattr(C, "grad"))', "grad"),
        ("loss.backward()", "autograd"),
        ("dC = torch.autograd.grad(loss, C)[0]", "autograd"),
        ('getattr(loss, "backward")()', "autograd"),
        ("C.retain_grad()", "autograd"),
    ],
)
def test_to_read_what_autograd_answered_is_less_than_to_ask_it(line: str, kind: str) -> None:
    assert [one.kind for one in offences(line)] == [kind]
