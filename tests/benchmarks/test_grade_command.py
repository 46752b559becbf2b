import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.grade_command import GradeFailed, at_least, at_most, grade

STAND_IN = """\
import json, pathlib, sqlite3, subprocess, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir()
burn = "sum(range(8_000_000))"
# an orphan: its time counts all the same
subprocess.Popen([sys.executable, "-c", f"import time; time.sleep(0.2); {burn}"])
exec(burn)
much = bytearray(100 * 2**20)
time.sleep(0.5)  # memory is looked at now and then
if "--jobs" in sys.argv:
    database = sqlite3.connect(out / "results.sqlite", isolation_level=None)
    database.execute("CREATE TABLE result (id)")
    database.execute("INSERT INTO result VALUES ('a')")
    exec(burn)
    time.sleep(0.2)
    database.execute("INSERT INTO result VALUES ('b')")
    time.sleep(0.2)
    database.close()
    lines = [{"id": "a", "score": 3, "run": {}}, {"id": "b", "score": 4, "run": {}}]
    (out / "results.jsonl").write_text("".join(json.dumps(line) + "\\n" for line in lines))
    (out / "grades.csv").write_text("student,score\\na,3\\n")
print("That is all.")
sys.exit("--timeout" in sys.argv)
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for `grader grade`, which leaves a process behind."""
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN, encoding="utf-8")
    start = subprocess.Popen

    def stand_in(words: list[str], **options: object) -> subprocess.Popen[bytes]:
        return start([sys.executable, str(script), *words[4:]], **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(subprocess, "Popen", stand_in)


@pytest.mark.slow
@pytest.mark.usefixtures("command")
def test_what_the_command_leaves_behind_is_counted_and_gone(tmp_path: Path) -> None:
    run = grade(tmp_path, tmp_path / "out", jobs=2)
    assert run.processor > 0
    assert run.memory > 100 * 2**20
    assert [line["score"] for line in run.lines()] == [3, 4]
    assert run.rows() == [{"student": "a", "score": "3"}]


@pytest.mark.slow
@pytest.mark.usefixtures("command")
def test_moments_are_caught_while_the_lines_come(tmp_path: Path) -> None:
    run = grade(tmp_path, tmp_path / "out", jobs=2, moments=(2, 1))
    first, second = run.moments[1], run.moments[2]
    assert first.seconds + 0.2 <= second.seconds <= run.seconds
    assert 0 < first.processor < second.processor <= run.processor
    with pytest.raises(GradeFailed, match=r"never had this many results: \[3\]"):
        grade(tmp_path, tmp_path / "another", jobs=2, moments=(1, 3))


@pytest.mark.slow
@pytest.mark.usefixtures("command")
@pytest.mark.parametrize("options", [{"timeout": 1.0, "jobs": 1}, {}], ids=["status", "no results"])
def test_a_command_that_failed_is_told_from_one_that_did_not(
    tmp_path: Path, options: dict[str, int]
) -> None:
    with pytest.raises(GradeFailed, match="That is all"):
        grade(tmp_path, tmp_path / "out", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (at_most(39.9, 40, " ms"), "(goal: at most 40 ms: reached)"),
        (at_most(40.1, 40, " ms"), "(goal: at most 40 ms: MISSED)"),
        (at_least(1.8, 1.8, " times"), "(goal: at least 1.8 times: reached)"),
        (at_least(1.79, 1.8, " times"), "(goal: at least 1.8 times: MISSED)"),
    ],
)
def test_a_figure_says_whether_it_is_the_promised_one(said: str, expected: str) -> None:
    assert said == expected
