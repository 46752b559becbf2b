"""The arithmetic of a gradebook: what files earn, which file counts, and what notebooks have.

Points are counted in billionths (`UNIT`), so that sums lose nothing and no student suffers from the
rounding of a binary fraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import polars as pl
from polars import col, lit, when

from grader.classroom.gradebook.codes import LETTERS, Attempts, Role, Status
from grader.classroom.gradebook.rubric import Rubric
from grader.verdict import EARNS_POINTS

UNIT = 10**9

CELL = ["student", "notebook"]

DAY = 24 * 60 * 60.0

RESOLUTION = 2.0
"""In seconds. Files whose times are no further apart may be in any order, because zip files keep
times in steps of two seconds, and a copied folder has the times of the copy."""

GRADED = (Status.GRADED, Status.LATE, Status.AWARDED)
"""The statuses of a notebook that has points, from the file that counts or from the instructor."""

DECIDED = {
    "student": pl.UInt32,
    "notebook": pl.String,
    "untouched": pl.String,
    "extra": pl.Int64,
    "most": pl.Int64,
    "excused": pl.Boolean,
    "due": pl.Float64,
    "wanted": pl.String,
    "given": pl.Int64,
    "points": pl.Int64,
}
"""The instructor's decisions on a cell; see `decided.decide`. `wanted` is the file that counts."""


_NEEDED_NO_MORE = (
    *("untouched", "extra", "wanted", "due", "handed_in", "counts"),
    *("moment", "modified", "attempt"),
)


def units(points: Fraction) -> int:
    """Convert points into units."""
    return round(points * UNIT)


def in_order(files: pl.DataFrame) -> pl.DataFrame:
    """The graded files of each cell with their `number`, the oldest first.

    The platform's times decide, then the files' own times, then the names. A file for which the
    platform gives no time counts as older than the files for which it does.
    """
    files = files.with_columns(handed_in=col("moment").fill_null(0.0))
    keys = _criteria(lit(True)).values()
    files = files.sort(*CELL, *keys, "attempt", "id")
    return files.with_columns(number=pl.int_range(1, pl.len() + 1).over(CELL))


def _criteria(among: pl.Expr) -> dict[str, pl.Expr]:
    """By what files of a cell are told apart before their names are, and its words.

    What does not tell files apart is the same for all of them.
    """
    own = col("modified").filter(among)
    tells = (own.null_count() == 0) & (own.max() - own.min() > RESOLUTION)
    # With --file-times the files' own times stand where a platform's would.
    same = (col("handed_in") == col("modified")).fill_null(False).filter(among).all()
    return {
        "by the time it was handed in": when(same.over(CELL)).then(0.0).otherwise("handed_in"),
        "by the file's own time": when(tells.over(CELL)).then("modified").otherwise(0.0),
    }


def scored(
    files: pl.DataFrame, decided: pl.DataFrame, rubric: Rubric, attempts: Attempts
) -> pl.DataFrame:
    """Add to each file what it `earns`, what is `kept` of it, its `role`, and `why` it counts."""
    decided = decided.select(*CELL, "untouched", "extra", "wanted", "due")
    files = files.join(decided, on=CELL, how="left", maintain_order="left")
    extended = (col("moment") > col("due")).fill_null(False)
    files = files.with_columns(late=when(col("due").is_null()).then("late").otherwise(extended))
    due = pl.coalesce("due", lit(rubric.due and rubric.due.astimezone().timestamp()))
    # If it is unknown by how much a file is late, one day counts as begun.
    days = ((col("moment") - due) / DAY).ceil().fill_null(1).clip(1, rubric.most_days)
    kept = units(rubric.late) - units(rubric.per_day) * days.cast(pl.Int64)
    files = files.with_columns(kept=when("late").then(kept.clip(0)).otherwise(UNIT))
    # The product of two numbers of units has more digits than 64 bits.
    whole = (_sum_of_gradients(files, rubric) + col("extra").fill_null(0)).cast(pl.Int128)
    step = units(rubric.step) * UNIT
    rounded = (whole * col("kept") * 2 + step) // (2 * step) * units(rubric.step)
    return _chosen(files.with_columns(earns=rounded.cast(pl.Int64)), attempts)


def _sum_of_gradients(files: pl.DataFrame, rubric: Rubric) -> pl.Expr:
    """The points of the gradients that the instructor left untouched."""
    total: pl.Expr = lit(0)
    for notebook in files["notebook"].unique():
        terms = []
        for place, gradient in enumerate(rubric.course.gradients(notebook)):
            worth = {LETTERS[each]: units(rubric.earned(*gradient, each)) for each in EARNS_POINTS}
            letter = col("outcomes").str.slice(place, 1)
            earns = letter.replace_strict(worth, default=0, return_dtype=pl.Int64)
            untouched = col("untouched").str.slice(place, 1) != "0"
            terms.append(when(untouched.fill_null(True)).then(earns).otherwise(0))
        sum_ = pl.sum_horizontal(terms) if terms else lit(0)
        total = when(col("notebook") == notebook).then(sum_).otherwise(total)
    return total


def _chosen(files: pl.DataFrame, attempts: Attempts) -> pl.DataFrame:
    number, best = col("number"), lit(True)
    if attempts is Attempts.BEST:
        best = col("earns") == col("earns").max().over(CELL)
    pick = number.filter(best).min() if attempts is Attempts.FIRST else number.filter(best).max()
    named = col("id") == col("wanted")
    files = files.with_columns(counts=pl.coalesce(named, number == pick.over(CELL)))
    by: pl.Expr = lit("by its name")
    for words, key in reversed(_criteria(best).items()):
        like_it = (key == key.filter(best & col("counts")).first().over(CELL)) & best
        by = when(like_it.sum().over(CELL) == 1).then(lit(words)).otherwise(by)
    why = pl.format(f"the {attempts} {{}}", by)
    if attempts is Attempts.BEST:
        why = pl.format("the latest ({}) of several that share the most points", by)
        alone = best.sum().over(CELL) == 1
        why = when(alone).then(lit("the one with the most points")).otherwise(why)
    instructors = lit("the one that the instructor named")
    return files.with_columns(
        role=when("counts").then(lit(Role.COUNTS)).otherwise(lit(Role.SUPERSEDED)),
        why=when(named.is_not_null()).then(instructors).otherwise(why),
    ).drop(*_NEEDED_NO_MORE)


def cells_of(
    students: int, columns: Mapping[str, Fraction], files: pl.DataFrame, decided: pl.DataFrame
) -> pl.DataFrame:
    """One row for each student and each notebook, from files with their `role`.

    `untimed` is True if the student has an extension, and the time of the file that counts is
    unknown.
    """
    everybody = pl.DataFrame({"student": pl.arange(students, dtype=pl.UInt32, eager=True)})
    most = {"notebook": [*columns], "worth": [units(points) for points in columns.values()]}
    books = pl.DataFrame(most, {"notebook": pl.String, "worth": pl.Int64})
    taken = files.filter(role=Role.COUNTS).select(
        *CELL, "earns", "late", "submitted", "why", file="id"
    )
    others = files.group_by(CELL).agg(
        others=(col("role") == Role.SUPERSEDED).sum(),
        unreadable=(col("role") == Role.UNREADABLE).sum(),
    )
    cells = everybody.join(books, how="cross", maintain_order="left_right")
    for table in (decided.drop("untouched", "extra", "wanted"), taken, others):
        cells = cells.join(table, on=CELL, how="left", maintain_order="left")
    excused, came = col("excused").fill_null(False), col("earns").is_not_null()
    whole, given = col("points"), col("given")
    limit = pl.coalesce("most", "worth")
    points = when(whole.is_not_null()).then(pl.min_horizontal(whole, limit))
    status = pl.coalesce(
        when(excused).then(lit(Status.EXCUSED)),
        when(came & col("late")).then(lit(Status.LATE)),
        when(came).then(lit(Status.GRADED)),
        when(whole.is_not_null() | given.is_not_null()).then(lit(Status.AWARDED)),
        when(col("unreadable") > 0).then(lit(Status.UNREADABLE)),
        lit(Status.MISSING),
    )
    return cells.select(
        *CELL,
        status=status,
        points=when(excused).then(0).otherwise(points.otherwise(pl.coalesce("earns", given, 0))),
        max_points=when(excused).then(0).otherwise(limit),
        file=col("file").fill_null(""),
        others=col("others").fill_null(0),
        why=col("why").fill_null(""),
        untimed=came & col("due").is_not_null() & col("submitted").is_null(),
    ).with_columns(graded=col("status").is_in(GRADED))
