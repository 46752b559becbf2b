"""The answer: the code of an exercise's answer cells, read as one program."""

# No torch: commands that only need to know which notebook a file is import this.

from __future__ import annotations

import ast
import copy
import itertools
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import CodeType
from typing import TYPE_CHECKING

from grader.answer.cell_source import hide_magics
from grader.answer.effects import (
    Effects,
    read_effects,
)
from grader.answer.statements import children, walk_statements
from grader.close_names import SLIP, UNDEFINED, nearest
from grader.printable import sentence
from grader.verdict import Place, Reason, because
from grader.worker.terms import DYNAMIC_NAMES

if TYPE_CHECKING:
    from grader.worker.results import Problem

LONGEST_ANSWER, MOST_STATEMENTS, MOST_NODES = 100_000, 2_000, 20_000
"""The most characters, statements and syntax-tree nodes that an exercise's answer may have. The
longest right answer known has 5,300, 135 and 1,200."""

DEEPEST = 150
"""The most levels of nesting that are read, because a sum of 150 terms is not a gradient."""

TOO_DEEP = "This cell cannot be read: its code is nested too deeply."

_NO_WORD = r"(?!(?:and|as|for|if|in|is|not|or|else)\b)"
SLIPS: Mapping[re.Pattern[str], str] = {
    re.compile(r"\.\.\.\s*\w"): "take out the `...`",
    re.compile(rf"(?<![\w.])\d[\d.]* +{_NO_WORD}[A-Za-z_(]"): (
        "a sign, such as `*`, is missing behind the number"
    ),
    re.compile(r"[\w)\]] +x +[\w(]"): "times is written `*`",
    # Not where a block begins, or a second statement: `f(x) y = 2`.
    re.compile(rf"^(?! *(?:elif|for|if|while|with)\b).*[)\]] *{_NO_WORD}[^\W\d]\w*+(?! *=(?!=))"): (
        "a sign, such as `*`, is missing behind the bracket"
    ),
    re.compile(r"[-+*/@]\s*$"): "the line ends with a sign; it goes on only inside of brackets",
}
"""What is said of a line in which Python sees nothing but invalid syntax, by what stands in it."""

TOO_LARGE = (
    f"This exercise's answer is longer than is read: {LONGEST_ANSWER:,} characters,"
    f" {MOST_STATEMENTS:,} statements, {MOST_NODES:,} names, numbers and operators."
)


Nodes = tuple[ast.AST, ...]


@dataclass(frozen=True, slots=True)
class AnswerCell:
    """One answer cell: its `grade_id` ("ex1-softmax"), and the code that the student left in it.

    `exercise` is given if the id does not begin with it, as in "cell 13".
    """

    grade_id: str
    source: str
    exercise: str = ""


def prefix_of(grade_id: str) -> str:
    """The exercise with which an answer cell's id begins: "ex1" of "ex1-softmax"."""
    return grade_id.partition("-")[0]


def cells_of(prefix: str, cells: Iterable[AnswerCell]) -> list[AnswerCell]:
    """The answer cells of one exercise, in order."""
    return [cell for cell in cells if (cell.exercise or prefix_of(cell.grade_id)) == prefix]


@dataclass(frozen=True, slots=True)
class Raised:
    """Why statements left no usable value: a sentence, and the line that it is about, if known.

    `by_limit` is true if they ran into a limit, took their process with them, or were not reached.
    If they raised an exception, `problem` is the worker's report, `did` is the sentence without its
    subject, "This line", and `guess` is a guess at a name that was never bound.
    """

    message: str
    place: Place | None = None
    by_limit: bool = False
    did: str = ""
    problem: Problem | None = None
    guess: Reason | None = None

    @property
    def kind(self) -> str:
        """The exception's type, as far as it is known."""
        return self.problem.kind if self.problem else ""

    @property
    def words(self) -> str:
        """The exception's own words, as far as they are known."""
        return self.message if self.problem is None else self.problem.message

    @property
    def unbound(self) -> str:
        """The name that was never bound, if this is the cause; otherwise ""."""
        found = UNDEFINED.search(self.words)
        return found[1] if found else ""

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons that a verdict gives for it."""
        if not self.did:
            return (because("stopped", message=self.message),)
        raised = because("raised", did=self.did, unbound=self.unbound)
        return (raised,) if self.guess is None else (raised, self.guess)


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer's statements in order, each with its cell and line.

    `statements` are numbered as by `grader.answer.statements.walk_statements`, and `top` are those
    of the outermost level. Blanks that were not filled in (`dX = ...`) are left out of `live`.
    `broken` holds the cells that are not Python, each with the reason, and `unread` is the reason
    if the whole answer is too large to be read.
    """

    cells: tuple[AnswerCell, ...]
    top: tuple[ast.stmt, ...]
    statements: tuple[ast.stmt, ...]
    places: tuple[Place, ...]
    broken: Mapping[AnswerCell, Raised]
    codes: Mapping[ast.stmt, CodeType]
    """The compiled code of each top-level statement; its tracebacks name its cell."""
    nodes: Mapping[ast.stmt, Nodes]
    """All nodes of each top-level statement except `Load` and `Store`, outer ones first."""
    unread: Raised | None = None
    written_sizes: Mapping[str, Place] = field(default_factory=dict)
    """The places at which a size is set to its value in the notebook, by the size's name."""

    @cached_property
    def number(self) -> dict[ast.stmt, int]:
        """The number of each statement."""
        return {statement: number for number, statement in enumerate(self.statements)}

    @cached_property
    def last_lines(self) -> dict[Place, int]:
        """The last line of the assignments and calls that begin at each place."""
        last = dict[Place, int]()
        for place, statement in zip(self.places, self.statements, strict=True):
            if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
                last[place] = max(statement.end_lineno or place.line, last.get(place, place.line))
        return last

    @cached_property
    def inside(self) -> dict[ast.stmt, frozenset[int]]:
        """For each top-level statement, its own number and those of all statements in it."""
        first = [self.number[statement] for statement in self.top] + [len(self.statements)]
        return {
            statement: frozenset(range(first[index], first[index + 1]))
            for index, statement in enumerate(self.top)
        }

    @cached_property
    def shown(self) -> dict[ast.stmt, Effects]:
        """The effects that the text of each statement shows, without the statements inside it."""
        return {statement: read_effects(statement) for statement in self.statements}

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that some statement binds, rather than only changing their value in place."""
        return frozenset[str]().union(*(one.binds - one.reads for one in self.shown.values()))

    @cached_property
    def written(self) -> dict[ast.stmt, frozenset[str]]:
        """The names that each top-level statement, or one inside it, may write."""
        writes = [e.binds | e.changes for e in self.shown.values()]
        return {
            top: frozenset[str]().union(*(writes[number] for number in inside))
            for top, inside in self.inside.items()
        }

    def with_slips(self, gradients: Sequence[str], known: Set[str]) -> Answer:
        """Read a slip in the name of a gradient as that gradient.

        `dlogit[0] += 1` raises an exception if nothing binds `dlogit`, and so belongs to no
        gradient. If it is read as a slip, it belongs to the gradient with the most similar name
        among those that its cell writes.

        Args:
            gradients: the gradients that are wrong as they are.
            known: names that are not slips.

        Returns:
            An answer with the slips mended, or the answer itself if there is no slip.
        """
        if not gradients:  # as of most answers
            return self
        known |= self.bound
        cells = {name: {self.places[n].cell for n in self.writing(name)} for name in gradients}
        shown = dict(self.shown)
        for statement, one in self.shown.items():
            if lost := (one.binds | one.changes) - known:
                cell = self.places[self.number[statement]].cell
                here = [gradient for gradient in gradients if cell in cells[gradient]]
                meant = {gradient for name in lost for gradient in nearest(name, here, SLIP)[:1]}
                # A tensor that is made from a gradient is not a slip in its name.
                shown[statement] = replace(one, changes=one.changes | meant - one.reads)
        if shown == self.shown:
            return self
        meant_so = copy.copy(self)  # with all that is cached
        vars(meant_so).pop("written", None)
        vars(meant_so)["shown"] = shown
        return meant_so

    def without_sizes(self, sizes: Mapping[str, int]) -> Answer:
        """Leave out lines such as `n = 32`, if a size of the notebook has this value.

        Such a line changes nothing in the notebook, but it would be wrong on other sizes. It is
        kept if other statements bind the name too.
        """
        gone = dict[ast.stmt, str]()
        for statement in self.top:
            match statement:
                case ast.Assign([ast.Name(name)], ast.Constant(int(number))):
                    others = (one for top, one in self.written.items() if top is not statement)
                    if sizes.get(name) == number and not any(name in one for one in others):
                        gone[statement] = name
        if not gone:
            return self
        pairs = zip(self.statements, self.places, strict=True)
        places = {statement: place for statement, place in pairs if statement not in gone}
        return replace(
            self,
            top=tuple(top for top in self.top if top not in gone),
            statements=tuple(places),
            places=tuple(places.values()),
            codes={top: code for top, code in self.codes.items() if top not in gone},
            nodes={top: nodes for top, nodes in self.nodes.items() if top not in gone},
            written_sizes={name: self.places[self.number[top]] for top, name in gone.items()},
        )

    def writing(self, name: str) -> frozenset[int]:
        """The numbers of the statements that bind a name or change it."""
        return frozenset(
            self.number[statement]
            for statement, effects in self.shown.items()
            if name in effects.binds or name in effects.changes
        )

    @cached_property
    def is_dynamic(self) -> bool:
        """True if a statement may bind names that its text does not show (`exec`, `globals`)."""
        return any(
            (isinstance(node, ast.Name) and node.id in DYNAMIC_NAMES)
            or (isinstance(node, ast.alias) and node.name == "*")
            for nodes in self.nodes.values()
            for node in nodes
        )

    @cached_property
    def live(self) -> frozenset[int]:
        """The numbers of all statements except unfilled blanks, and `del`, which makes nothing."""
        return frozenset(
            number
            for number, statement in enumerate(self.statements)
            if not is_blank(statement) and not isinstance(statement, ast.Delete)
        )


def is_blank(statement: ast.stmt) -> bool:
    """True for `dX = ...`, the blank as the student found it."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=value)):
            return value is ...
    return False


def parse_answer(cells: Sequence[AnswerCell]) -> Answer:
    """Read answer cells as one program; a cell that is not Python is set aside with its reason."""
    if sum(len(cell.source) for cell in cells) > LONGEST_ANSWER:
        return _unread(cells)
    places: dict[ast.stmt, Place] = {}
    every: dict[ast.stmt, tuple[CodeType, Nodes]] = {}
    good: list[AnswerCell] = []
    broken: dict[AnswerCell, Raised] = {}
    for cell in cells:
        runnable = AnswerCell(cell.grade_id, hide_magics(cell.source))
        compiled = _compile_cell(runnable)
        if isinstance(compiled, Raised):
            broken[cell] = compiled
            continue
        good.append(runnable)
        every |= compiled
        for statement in walk_statements([*compiled]):
            places[statement] = Place(cell.grade_id, statement.lineno)
    if len(places) > MOST_STATEMENTS or sum(len(nodes) for _, nodes in every.values()) > MOST_NODES:
        return _unread(cells)
    return Answer(
        tuple(good),
        tuple(every),
        tuple(places),
        tuple(places.values()),
        broken,
        {statement: code for statement, (code, _) in every.items()},
        {statement: nodes for statement, (_, nodes) in every.items()},
    )


@lru_cache(maxsize=512)  # a notebook that runs asks it of its other cells at every check
def written_names(source: str) -> frozenset[str]:
    """The names that a cell binds or changes, or may bind or change."""
    return frozenset[str]().union(*parse_answer([AnswerCell("", source)]).written.values())


@lru_cache(maxsize=512)
def live_names(source: str) -> frozenset[str] | None:
    """The same without the blanks, or None for a cell that Python cannot read."""
    answer = parse_answer([AnswerCell("", source)])
    if answer.broken:
        return None
    effects = (answer.shown[answer.statements[number]] for number in answer.live)
    return frozenset[str]().union(*(one.binds | one.changes for one in effects))


def _unread(cells: Sequence[AnswerCell]) -> Answer:
    reason = Raised(TOO_LARGE, Place(max(cells, key=lambda cell: len(cell.source)).grade_id, 1))
    return Answer((), (), (), (), dict.fromkeys(cells, reason), {}, {}, reason)


def _levels(statement: ast.stmt) -> list[list[ast.AST]]:
    """The nodes of a statement level by level, without recursion."""
    levels: list[list[ast.AST]] = [[statement]]
    while level := [child for node in levels[-1] for child in children(node)]:
        levels.append(level)
    return levels


def _compile_cell(cell: AnswerCell) -> dict[ast.stmt, tuple[CodeType, Nodes]] | Raised:
    """A cell's top-level statements with their code and nodes, or why Python cannot read it."""
    compiled = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # One statement too many is enough to refuse the answer; to compile all takes seconds.
            for statement in ast.parse(cell.source).body[: MOST_STATEMENTS + 1]:
                levels = _levels(statement)
                if len(levels) >= DEEPEST:
                    return Raised(TOO_DEEP, Place(cell.grade_id, 1))
                # The parser accepts what the compiler refuses, such as `return` outside a function.
                code = compile_statement(statement, cell.grade_id)
                compiled[statement] = code, tuple(itertools.chain.from_iterable(levels))
    except SyntaxError as error:
        line = error.lineno or 1
        slips = (said for slip, said in SLIPS.items() if slip.search(error.text or ""))
        reason = next(slips, "") if error.msg.startswith("invalid syntax") else ""
        message = f"Python cannot read this cell: {sentence(reason or error.msg)}"
        return Raised(message, Place(cell.grade_id, line))
    except ValueError as error:
        message = f"Python cannot read this cell: {sentence(str(error))}"
        return Raised(message, Place(cell.grade_id, 1))
    except (RecursionError, MemoryError):
        return Raised(TOO_DEEP, Place(cell.grade_id, 1))
    return compiled


def compile_statement(statement: ast.stmt, cell: str) -> CodeType:
    """Compile a statement, even one that awaits, for a worker. Its tracebacks name the cell."""
    tree, flags = ast.Module([statement], []), ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python thinks of `2(x)`, the student is told anyway
        code: CodeType = compile(tree, f"<answer {cell}>", "exec", flags)
    return code
