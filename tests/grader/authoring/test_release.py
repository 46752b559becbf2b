"""A student release has everything that students need, and no answer."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement

from corpus.readers.lecture_course import EXERCISES
from grader.authoring import release
from grader.authoring.release import LEFT_OUT, MANIFEST, release_files, write_release
from grader.authoring.source import SourceError, solution_regions
from grader.commands import exit_codes
from grader.program.parse import parse_program
from grader.user_error import UserError
from tests.helpers.course_notebooks import FOLDER, NAMES

ADDRESS = "https://github.com/ada/backprop-2027"
NETWORK = {
    name
    for exercise in EXERCISES
    for program in [parse_program(exercise.forward)]
    for name in (*program.inputs, *program.steps)
}
"""The forward passes' tensors: a line that names none of them, nor a gradient, says nothing."""
GIVEN = FOLDER.parent / "makemore_data" / "course" / "forward.py"
"""What an answer may repeat, and every blank notebook shows."""


@pytest.fixture(scope="module")
def files() -> Iterator[dict[str, bytes]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(FOLDER.parent)
        yield release_files(ADDRESS)


def squeezed(text: str) -> str:
    return "".join(text.split())


def readings(path: str, content: bytes) -> Iterator[str]:
    """A file's text; of a JSON file also each text that is quoted in it."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return
    yield text
    if path.endswith((".ipynb", ".json")):
        yield "\n".join(re.findall(r'"((?:[^"\\\\]|\\\\.)*)"', text))
        pending = [json.loads(text)]
        while pending:
            match pending.pop():
                case str(string):
                    yield string
                case list(items):
                    pending += items
                case dict(table):
                    pending += table.values()


def answer_lines(project: Path) -> dict[str, str]:
    """Every line of a right answer that names a gradient or a tensor, with where it stands."""
    texts = {
        str(path): "\n".join(
            line for region in solution_regions(path.read_text(encoding="utf-8")) for line in region
        )
        for path in project.glob("notebooks/source/*.py")
    }
    texts |= {
        str(path): path.read_text(encoding="utf-8")
        for path in project.glob("corpus/answers/*/right/*.py")
    }
    given = squeezed(GIVEN.read_text(encoding="utf-8"))
    gradients = {gradient for exercise in EXERCISES for gradient in exercise.gradients}
    lines: dict[str, str] = {}
    for where, text in texts.items():
        for line in text.splitlines():
            said = squeezed(line)
            telling = (NETWORK | gradients) & set(re.findall(r"\w+", line))
            computes = re.search(r"[-+*/@(\[=]", line)  # more than a name in a list
            blank = said.endswith("=...#yourturn")  # `second_thoughts` begins with one
            comment = said.startswith("#")
            if telling and computes and not (comment or blank or said in given):
                lines[said] = where
    return lines


def test_the_lines_looked_for_are_those_of_all_answers(project: Path) -> None:
    lines = answer_lines(project)
    assert len(lines) > 1500
    assert {"dh=dlogits@W2.T", "dlogits[range(n),Yb]-=1", "db2=dlogits.sum(0)"} <= lines.keys()
    assert {Path(where).parent.name for where in lines.values()} == {"source", "right"}


@pytest.mark.slow
def test_no_file_says_a_line_of_an_answer(files: dict[str, bytes], project: Path) -> None:
    lines = answer_lines(project)
    whole = {line for line in lines if len(line) < 12}  # `dz+=kept` may be a part of anything
    told = []
    for path, content in files.items():
        for text in readings(path, content):
            found = {squeezed(line) for line in text.splitlines()}
            told += [(path, line) for line in whole & found]
            one = squeezed(text)
            told += [(path, line) for line in lines.keys() - whole if line in one]
    assert told == []


def test_the_search_would_find_one(files: dict[str, bytes], project: Path) -> None:
    """In each form in which a file can hold it."""
    (line, *_) = (line for line in answer_lines(project) if "@" in line)
    notebook = json.dumps({"cells": [{"source": ["# \u00e4\n", f"  {line}\n"]}]})
    assert any(line in squeezed(text) for text in readings("a.ipynb", notebook.encode()))
    assert any(line in squeezed(text) for text in readings("a.py", f"x\n  {line}".encode()))


@pytest.mark.slow
def test_no_python_file_assigns_a_gradient(files: dict[str, bytes]) -> None:
    gradients = {gradient for exercise in EXERCISES for gradient in exercise.gradients}
    for path, content in files.items():
        if path.endswith(".py"):
            stored = {
                node.id
                for node in ast.walk(ast.parse(content))
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            assert not stored & gradients, path


def test_sources_solutions_and_tests_stay_at_home(files: dict[str, bytes]) -> None:
    tops = {path.partition("/")[0] for path in files}
    assert tops == {
        *(".github", ".gitignore", "LICENSE", "Makefile", "README.md", "constraints.txt"),
        *("environment.yml", "grader", "makemore_data", "notebooks", "pyproject.toml"),
    }
    assert {path for path in files if path.startswith("notebooks/")} == {
        f"notebooks/{name}.ipynb" for name in NAMES
    }
    assert not [path for path in files if path.startswith(LEFT_OUT)]
    assert not [path for path in files if "__pycache__" in path or path.endswith(".pyc")]


def test_what_is_left_out_exists(project: Path) -> None:
    assert [name for name in LEFT_OUT if not (project / name).exists()] == []


@pytest.mark.slow
def test_nothing_imports_what_is_left_out(files: dict[str, bytes]) -> None:
    for path, content in files.items():
        if not path.endswith((".py", ".pyi")):
            continue
        for node in ast.walk(ast.parse(content)):
            if not (isinstance(node, ast.ImportFrom) and node.module):
                continue
            if node.level:
                continue
            module = node.module
            if module.split(".")[0] not in ("grader", "makemore_data"):
                continue
            place = module.replace(".", "/")
            assert f"{place}.py" in files or f"{place}/__init__.py" in files, (path, module)


def test_notebooks_are_blank_and_lead_to_the_class_repository(files: dict[str, bytes]) -> None:
    for name in NAMES:
        text = files[f"notebooks/{name}.ipynb"].decode("utf-8")
        notebook = nbformat.reads(text, as_version=4)
        assert "  # your turn" in text
        assert "SOLUTION" not in text
        assert not any(cell.get("outputs") for cell in notebook.cells)
        assert f"github/ada/backprop-2027/blob/main/notebooks/{name}.ipynb" in text
        assert f"git+{ADDRESS}" in text


def test_no_file_leads_to_the_courses_own_repository(
    files: dict[str, bytes], project: Path
) -> None:
    pyproject = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    own = pyproject["project"]["urls"]["Repository"].removeprefix("https://github.com/")
    for path, content in files.items():
        assert own.encode() not in content, path


def test_the_workflow_finds_what_it_grades(files: dict[str, bytes]) -> None:
    workflow = yaml.safe_load(files[release.WORKFLOW_PLACE])
    assert set(workflow["env"]["NOTEBOOKS"].split()) == {f"notebooks/{n}.ipynb" for n in NAMES}
    steps = "\n".join(
        step.get("run", "") for step in workflow["jobs"]["run-autograding-tests"]["steps"]
    )
    assert "pip install . -c constraints.txt" in steps


def test_the_package_is_the_same_without_the_makers_tools(
    files: dict[str, bytes], project: Path
) -> None:
    cut = tomllib.loads(files["pyproject.toml"].decode("utf-8"))
    whole = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    extras = cut["project"].pop("optional-dependencies")
    assert extras == {
        name: whole["project"]["optional-dependencies"][name] for name in ("lab", "grade")
    }
    assert cut["project"].pop("urls") == {"Repository": ADDRESS}
    assert cut["project"].pop("readme") == "README.md"
    assert whole["project"].pop("dynamic") == ["readme"]
    del whole["project"]["optional-dependencies"], whole["project"]["urls"]
    assert cut["project"] == whole["project"]
    assert cut["build-system"]["build-backend"] == whole["build-system"]["build-backend"]
    assert [Requirement(r).name for r in cut["build-system"]["requires"]] == ["hatchling"]
    wheel = whole["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert cut["tool"] == {"hatch": {"build": {"targets": {"wheel": wheel}}}}


def test_conda_brings_what_pip_brings(files: dict[str, bytes]) -> None:
    project = tomllib.loads(files["pyproject.toml"].decode("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(package for extra in extras for package in extra)]
    environment = yaml.safe_load(files["environment.yml"])
    listed = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    (by_pip,) = (entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    names = {Requirement(entry).name for entry in [*listed, *by_pip] if entry != "-e ."}
    assert names - {"python", "pip", "pytorch"} == {Requirement(w).name for w in wanted} - {"torch"}
    assert {"python", "pip", "pytorch"} <= names
    assert "-e ." in by_pip


def test_its_makefile_names_what_is_there(files: dict[str, bytes]) -> None:
    makefile = files["Makefile"].decode("utf-8")
    assert "-c constraints.txt -e '.[lab]'" in makefile
    documented = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    mentioned = set(re.findall(r"\bmake ([a-z]+)\b", files["README.md"].decode("utf-8")))
    assert mentioned
    assert mentioned <= documented


def test_links_of_its_readme_lead_somewhere(files: dict[str, bytes]) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", files["README.md"].decode("utf-8"))
    inside = {target for target in targets if not target.startswith("https://")}
    assert inside
    assert inside <= files.keys()


def test_a_file_that_tells_stops_the_release(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    telling = ("grader/x.py", b"dh  = dlogits @ W2.T")
    monkeypatch.setattr(release, "package_files", lambda: [telling])
    with pytest.raises(SourceError, match=r"grader/x\.py would tell the answer `dh = dlogits"):
        release_files(ADDRESS)


@pytest.mark.slow
def test_the_command_line(project: Path, tmp_path: Path) -> None:
    """The commands that make the course are not there any more; the others grade a notebook."""
    command = [sys.executable, "-m", "grader"]

    def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments], cwd=folder, capture_output=True, text=True, check=False
        )

    out = tmp_path / "class"
    export = ["export", "release", "--out", str(out), "--repository", "ada/backprop-2027"]
    done = run(*export, folder=project)
    assert done.returncode == exit_codes.PASSED, done.stderr
    assert "files written, 0 removed" in done.stdout
    listed = run("--help", folder=out).stdout.partition("Commands for")[2].splitlines()
    commands = {line.split()[0] for line in listed if line.startswith("  ")}
    assert {"check", "explain", "grade"} <= commands
    assert not {"dev", "export"} & commands
    assert run("export", folder=out).returncode == exit_codes.UNREADABLE
    graded = run("check", "notebooks/03_fused_batchnorm.ipynb", "--json", folder=out)
    assert graded.returncode == exit_codes.NOT_PASSED, graded.stderr
    assert {g["verdict"] for g in json.loads(graded.stdout)["gradients"]} == {"todo"}


def test_without_a_clone_there_is_a_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grader", "export", "release", "--out", "class"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exit_codes.UNREADABLE
    assert "run it in a clone of the course's repository" in done.stderr
    assert list(tmp_path.iterdir()) == []


# --- the folder

FIRST = {"README.md": b"one", "grader/grading/judge.py": b"judge", "grader/old.py": b"old"}
SECOND = {"README.md": b"two", "grader/grading/judge.py": b"judge", "grader/new.py": b"new"}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST and ".git" not in path.parts
    }


@pytest.fixture
def released(tmp_path: Path) -> Path:
    folder = tmp_path / "class"
    write_release(FIRST, folder)
    return folder


def test_a_new_folder_gets_the_files(tmp_path: Path) -> None:
    written = write_release(FIRST, tmp_path / "deep" / "class")
    assert contents(tmp_path / "deep" / "class") == FIRST
    assert (set(written.new), written.removed, written.kept) == (set(FIRST), (), ())


def test_an_empty_clone_is_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("[core]")
    write_release(FIRST, tmp_path)
    assert contents(tmp_path) == FIRST
    assert (tmp_path / ".git" / "config").read_text() == "[core]"


def test_an_earlier_release_is_brought_up_to_date(released: Path) -> None:
    (released / ".git").mkdir()
    (released / "syllabus.md").write_bytes(b"the instructor's own")
    written = write_release(SECOND, released)
    assert contents(released) == SECOND | {"syllabus.md": b"the instructor's own"}
    assert written.new == ("README.md", "grader/new.py")
    assert written.removed == ("grader/old.py",)
    assert (released / ".git").is_dir()


def test_what_somebody_has_changed_stays(released: Path) -> None:
    (released / "README.md").write_bytes(b"our class meets on Tuesdays")
    (released / "grader/old.py").write_bytes(b"patched")
    for _ in range(2):  # and the next release still knows
        written = write_release(SECOND, released)
        assert "README.md" in written.kept
        assert (released / "README.md").read_bytes() == b"our class meets on Tuesdays"
        assert (released / "grader/old.py").read_bytes() == b"patched"
    (released / "README.md").unlink()
    assert write_release(SECOND, released).new == ("README.md",)


def test_the_same_again_writes_nothing(released: Path) -> None:
    written = write_release(FIRST, released)
    assert (written.new, written.removed, written.kept) == ((), (), ())


@pytest.mark.parametrize(
    "manifest",
    [
        *(None, "", "[]", '{"format": 1}'),
        *('{"format": 99, "files": {}}', '{"format": true, "files": {}}'),
    ],
)
def test_any_other_folder_is_left_alone(tmp_path: Path, manifest: str | None) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    if manifest is not None:
        (tmp_path / MANIFEST).write_text(manifest)
    with pytest.raises(UserError, match="is not empty and holds no earlier release"):
        write_release(FIRST, tmp_path)
    assert set(contents(tmp_path)) == {"thesis.tex"}


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "class").write_text("")
    with pytest.raises(UserError, match="is a file"):
        write_release(FIRST, tmp_path / "class")


def test_a_manifest_cannot_remove_what_lies_outside(released: Path) -> None:
    outside = released.parent / "outside.txt"
    write_release({"a": b"same"}, released.parent / "other")
    outside.write_bytes(b"same")
    manifest = json.loads((released.parent / "other" / MANIFEST).read_text())
    manifest["files"]["../outside.txt"] = manifest["files"]["a"]
    (released.parent / "other" / MANIFEST).write_text(json.dumps(manifest))
    write_release({"b": b"b"}, released.parent / "other")
    assert outside.exists()


def test_where_nothing_can_be_written_there_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    write_release({"a": b"1"}, tmp_path / "class")
    with pytest.raises(UserError, match="cannot be written"):
        write_release({"a/b": b"2"}, tmp_path / "class")
