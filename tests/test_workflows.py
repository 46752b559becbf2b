import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import nbformat
import pytest

from corpus.readers.lecture_course import NOTEBOOKS
from grader.authoring.blank import fill
from tests.helpers.workflow_steps import WORKFLOWS, read, run_step, steps

SAMPLES = Path("corpus/answers/ex1")
MAY_WRITE = {
    "publish": {"id-token": "write"},  # PyPI wants to be shown who asks
    "deploy": {"id-token": "write", "pages": "write"},
}
NOTEBOOK = "notebooks/01_atomic_backprop.ipynb"


@pytest.mark.slow
def test_the_workflows_are_valid() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run(
        [*command, "vendor.github-workflows", *map(str, WORKFLOWS.values())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_actions_are_asked_for_by_their_major_version(workflow: str) -> None:
    for step in steps(workflow):
        assert re.search(r"@(v\d+|release/v\d+)$", step.get("uses", "@v1")), step


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_no_other_job_may_write_or_run_on_for_ever(workflow: str) -> None:
    document = read(workflow)
    assert document["permissions"] == {"contents": "read"}
    for name, job in document["jobs"].items():
        assert job.get("permissions") == MAY_WRITE.get(name)
        assert "uses" in job or job["timeout-minutes"] <= 90


def test_ci_runs_the_quick_tests_and_every_night_all_of_them() -> None:
    last = [step["run"] for step in steps("ci") if "run" in step][-1]
    assert last.startswith(".ci/run ${{ ")
    assert "github.event_name == 'schedule'" in last
    assert "'test-all'" in last
    events = {str(key): value for key, value in read("ci").items()}
    assert "schedule" in events["True"]  # YAML takes the word `on` for true


def test_what_is_published_has_been_tested_and_tried() -> None:
    jobs = read("publish")["jobs"]
    assert [jobs[name].get("needs") for name in ("version", "test", "build", "publish")] == [
        None,
        "version",
        "test",
        "build",
    ]
    assert jobs["test"]["uses"] == "./.github/workflows/ci.yml"


@pytest.mark.parametrize(
    ("tag", "changelog", "sentence"),
    [
        ("v1.2.3", "## [1.2.3] - 2026-11-21\n", ""),
        ("v1.2", "## [1.2.3]\n", "The tag is v1.2, but pyproject.toml says version 1.2.3."),
        ("v1.2.3", "## [Unreleased]\n", "CHANGELOG.md has no heading [1.2.3]."),
    ],
)
def test_a_tag_is_a_version_that_the_changelog_knows(
    tag: str, changelog: str, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n', encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    name = "The tag is the project's version, and the changelog knows it"
    done = run_step("publish", name, tmp_path, {"GITHUB_REF_NAME": tag})
    assert done.returncode == (1 if sentence else 0), done.stderr
    assert done.stdout == (f"::error::{sentence}\n" if sentence else "")


def test_a_class_is_asked_for_every_notebook() -> None:
    asked = read("classroom")["env"]["NOTEBOOKS"].split()
    assert asked == [f"notebooks/{name}.ipynb" for name in NOTEBOOKS]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "code", "counts", "points"),
    [
        ("right/lecture", 0, (0, 0, 0), "26/26"),
        ("samples/one_fault", 1, (21, 0, 0), "25/26"),
        (None, 2, (0, 1, 0), None),
    ],
)
def test_the_step_fails_exactly_when_a_gradient_does(
    answers: str | None,
    code: int,
    counts: tuple[int, int, int],
    points: str | None,
    tmp_path: Path,
    project: Path,
) -> None:
    """A right and a wrong submission, and a file that is not a notebook any more."""
    submitted = tmp_path / NOTEBOOK
    submitted.parent.mkdir()
    shutil.copy(project / NOTEBOOK, submitted)
    if answers is None:
        submitted.write_text("<<<<<<< HEAD\n", encoding="utf-8")
    else:
        text = (project / SAMPLES / f"{answers}.py").read_text(encoding="utf-8")
        nbformat.write(fill(nbformat.read(submitted, as_version=4), text), submitted)
    summary = tmp_path / "summary.md"
    variables = {"NOTEBOOKS": NOTEBOOK, "GITHUB_STEP_SUMMARY": str(summary)}
    done = run_step("classroom", "Grade", tmp_path, variables)

    assert done.returncode == code, done.stdout + done.stderr
    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert tuple(int(root.get(kind, "")) for kind in ("failures", "errors", "skipped")) == counts
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    if points is None:
        (sentence,) = done.stderr.splitlines()
        assert sentence.startswith(f"{NOTEBOOK} ")
        assert "::notice" not in done.stdout
        assert "### Not graded" in summary.read_text(encoding="utf-8")
    else:
        assert done.stderr == ""
        assert f"::notice title=Autograding complete::Points {points}\n" in done.stdout
        earned, most = points.split("/")
        assert f": {earned} of {most} points" in summary.read_text(encoding="utf-8")
