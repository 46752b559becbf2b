"""The limits that a notebook and an answer are kept to, from the code that sets them."""

from __future__ import annotations

from docs.building.markdown import table
from grader.answer.parse import DEEPEST, LONGEST_ANSWER, MOST_NODES, MOST_STATEMENTS
from grader.classroom.run.local_pool import JUDGE_BYTES, JUDGE_SECONDS
from grader.grading.grade import MOST_OF_A_KIND
from grader.submission.answer_cells import MOST_ANSWER_CELLS
from grader.submission.notebook_file import LARGEST_FILE, MOST_JSON_VALUES
from grader.worker.child import GRACE_SECONDS, LARGEST_RESULT
from grader.worker.confinement import LARGEST_STACK, MOST_OPEN_FILES
from grader.worker.execution import LARGER_VALUE, LARGEST_VALUE
from grader.worker.system_calls import ALLOWED, HOSTILE
from grader.worker.terms import Limits

MEBIBYTE = 2**20


def limits_table() -> str:
    """What an answer may use; the first two are those that `--timeout` changes."""
    limits = Limits()
    rows = [
        ("time of a statement", f"{limits.statement_seconds:g} s, then it is interrupted"),
        ("time of all statements", f"{limits.total_seconds:g} s"),
        ("a statement that ignores the interruption", f"killed after {GRACE_SECONDS:g} s more"),
        ("memory", _size(limits.memory_bytes)),
        ("stack", _size(LARGEST_STACK)),
        ("open files", str(MOST_OPEN_FILES)),
        ("processes and threads it starts", "none"),
        ("files it writes", "none"),
        ("one gradient", _size(LARGEST_VALUE)),
        ("one that has more numbers than its tensor", _size(LARGER_VALUE)),
        ("what it sends to the judge in all", _size(LARGEST_RESULT)),
    ]
    return table(["what", "limit"], rows)


def sizes_table() -> str:
    """How large what is handed in may be."""
    rows = [
        ("a notebook's file", _size(LARGEST_FILE)),
        ("values in it (brackets, commas and emoji)", f"{MOST_JSON_VALUES:,}"),
        ("answer cells", f"{MOST_ANSWER_CELLS}"),
        ("an exercise's answer", f"{LONGEST_ANSWER:,} characters, {MOST_STATEMENTS:,} statements"),
        ("names, numbers and operators in it", f"{MOST_NODES:,}"),
        ("levels of nesting", f"{DEEPEST}"),
        ("flags of a kind", f"{MOST_OF_A_KIND}"),
        ("processor time of its judge", f"{JUDGE_SECONDS} s"),
        ("memory of its judge, beyond what it has before", _size(JUDGE_BYTES)),
    ]
    return table(["what", "limit"], rows)


def system_calls() -> str:
    """Which system calls are let through, and which end the process."""
    return (
        f"{len(ALLOWED)} are let through, those that arithmetic, imports and exceptions need. Any"
        f' other raises an exception that says "Operation not permitted". {len(HOSTILE)} that no'
        f" answer makes by accident, such as `{next(iter(HOSTILE))}`, end the process."
    )


def _size(number: int) -> str:
    return f"{number // MEBIBYTE:,} MiB"
