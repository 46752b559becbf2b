"""A class repository: the course without its answers, written into a folder."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import nbformat
import yaml
from jinja2 import Template
from nbformat import NotebookNode

from grader.authoring.address import owner_and_name
from grader.authoring.blank import first_told, make_blank, solution_statements, squeezed
from grader.authoring.carried_files import toml_value
from grader.authoring.course import BLANKS, read_notebooks, read_repository
from grader.authoring.source import SourceError, colab_badge
from grader.user_error import UserError
from grader.whole_file import is_format

PACKAGES = ("grader", "makemore_data")

LEFT_OUT = (
    "grader/authoring/",
    "grader/commands/maintainer/",
    "grader/platforms/",
    "makemore_data/training/solved/",
)
"""The rooms that make the course, and what contains its answers."""

AS_THEY_ARE = ("LICENSE", "constraints.txt")

EXTRAS = ("lab", "grade")
"""The extras of a class repository; the others are for those who change or serve the course."""

TEMPLATES = Path(__file__).parent / "student"

_CONDA_NAMES = {"pytorch": "torch"}
_ALWAYS = {"python", "pip", "-e"}  # the course itself is `-e .`

WORKFLOW = TEMPLATES / "classroom.yml"
WORKFLOW_PLACE = ".github/workflows/classroom.yml"

MANIFEST = ".release.json"
"""Which files a release wrote, with their hashes: what tells it from any other folder."""

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a release's files, by their paths.

    `removed` are those of the earlier release that the course no longer has; `kept` are those that
    were changed since: they stay as they are.
    """

    new: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]


def release_files(repository: str | None) -> dict[str, bytes]:
    """Make every file of a class repository, by its path, in the course's own repository.

    Args:
        repository: the class repository's address, for badges and Colab cells; by default the
            course's own.

    Raises:
        SourceError: a file would tell an answer; the message says which.
    """
    pyproject = Path("pyproject.toml").read_text(encoding="utf-8")
    address = repository or read_repository()
    solved = read_notebooks(repository=address)
    # Not the notebooks in this folder: a maintainer may have worked in them.
    blanks = {name: make_blank(notebook) for name, notebook in solved.items()}
    files = dict(package_files())
    files |= {
        f"{BLANKS}/{name}.ipynb": nbformat.writes(blank, version=4) + "\n"
        for name, blank in blanks.items()
    }
    files |= {name: Path(name).read_bytes() for name in AS_THEY_ARE}
    reduced = student_pyproject(pyproject, address)
    files |= {
        "pyproject.toml": reduced,
        "environment.yml": student_environment(Path("environment.yml").read_text("utf-8"), reduced),
        "README.md": student_readme(address, {n: _title(b) for n, b in blanks.items()}),
        "Makefile": (TEMPLATES / "Makefile").read_bytes(),
        ".gitignore": (TEMPLATES / "gitignore").read_bytes(),
        WORKFLOW_PLACE: WORKFLOW.read_bytes(),
    }
    encoded = {
        path: text.encode("utf-8") if isinstance(text, str) else text
        for path, text in sorted(files.items())
    }
    _refuse_telling(encoded, solved.values())
    return encoded


def package_files() -> Iterator[tuple[str, bytes | str]]:
    """The course's Python packages, without what is left out."""
    for package in PACKAGES:
        for path in sorted(Path(package).rglob("*")):
            name = path.as_posix()
            hidden = any(part.startswith((".", "__pycache__")) for part in path.parts)
            if path.is_file() and not hidden and not name.startswith(LEFT_OUT):
                yield name, path.read_bytes()


def _title(notebook: NotebookNode) -> str:
    heading: str = notebook.cells[0].source.strip().partition("\n")[0]
    return heading.lstrip("# ")


def _refuse_telling(files: Mapping[str, bytes], solved: Iterable[NotebookNode]) -> None:
    """Raise SourceError where a file has a statement of a solution in it, spaces disregarded."""
    answers = {squeezed(one): one for notebook in solved for one in solution_statements(notebook)}
    texts = ((path, text) for path, content in files.items() for text in _texts(path, content))
    if told := first_told(texts, answers):
        path, answer = told
        raise SourceError(
            f"{path} would tell the answer `{answer}`: nothing was written. Leave the "
            "file out (LEFT_OUT in grader/authoring/release.py), or say it otherwise."
        )


def _texts(path: str, content: bytes) -> Iterator[str]:
    """The texts that a reader finds in a file: of a JSON document each string."""
    is_json = path.endswith((".ipynb", ".json"))
    pending = [json.loads(content) if is_json else content.decode("utf-8", errors="replace")]
    while pending:
        match pending.pop():
            case str(text):
                yield text
            case list(lines) if all(isinstance(line, str) for line in lines):
                yield "".join(lines)  # a cell's lines are one text
            case list(items):
                pending += items
            case dict(table):
                pending += table.values()


def student_pyproject(text: str, repository: str) -> str:
    """The project's pyproject.toml without the extras and tools of those who change the course."""
    whole = tomllib.loads(text)
    build, project = whole["build-system"], whole["project"]
    # The README is taken as it is: a class repository never goes to PyPI, where links need mending.
    build["requires"] = [name for name in build["requires"] if "pypi-readme" not in name]
    del project["dynamic"]
    extras = project.pop("optional-dependencies")
    tables = {
        "build-system": build,
        "project": {
            "readme": "README.md",
            **{key: value for key, value in project.items() if not isinstance(value, dict)},
        },
        "project.optional-dependencies": {name: extras[name] for name in EXTRAS},
        "project.scripts": project["scripts"],
        "project.urls": {"Repository": repository},
        "tool.hatch.build.targets.wheel": whole["tool"]["hatch"]["build"]["targets"]["wheel"],
    }
    return "\n".join(
        "\n".join([f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in table.items()), ""])
        for name, table in tables.items()
    )


def _toml(value: object) -> str:
    """A value as TOML writes it: lists of packages are long, and have a line for each."""
    if isinstance(value, list):
        return "".join(["[\n", *(f"    {toml_value(item)},\n" for item in value), "]"])
    return toml_value(value)


def student_environment(text: str, pyproject: str) -> str:
    """The project's environment.yml with those packages alone that `student_pyproject` asks for."""
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"].values()
    asked = [*project["dependencies"], *(package for extra in extras for package in extra)]
    wanted = {_package(requirement) for requirement in asked} | _ALWAYS
    environment = yaml.safe_load(text)
    *by_conda, by_pip = environment["dependencies"]
    environment["dependencies"] = [
        *(entry for entry in by_conda if _package(entry) in wanted),
        {"pip": [entry for entry in by_pip["pip"] if _package(entry) in wanted]},
    ]
    head = (
        f"# For conda and mamba: what `pip install -e '.[{','.join(EXTRAS)}]'` brings, under\n"
        "# conda-forge's names.\n"
    )
    return head + yaml.safe_dump(environment, sort_keys=False)


def _package(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    name = found[0].lower().replace("_", "-") if found else ""
    return _CONDA_NAMES.get(name, name)


def student_readme(repository: str, titles: Mapping[str, str]) -> str:
    """The README of a class repository; `titles` are the notebooks' headings, by their names."""
    text = (TEMPLATES / "README.md").read_text(encoding="utf-8")
    folder = owner_and_name(repository).partition("/")[2]
    template = Template(text, trim_blocks=True, keep_trailing_newline=True)
    names = {"repository": repository, "folder": folder, "titles": titles, "badge": colab_badge}
    return str(template.render(names))


def write_release(files: Mapping[str, bytes], folder: Path) -> Written:
    """Write the files; replace those of an earlier release unless they were changed since.

    Raises:
        UserError: the folder is neither empty nor an earlier release, or cannot be written.
    """
    before = _earlier(folder)
    after = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    try:
        found = {name: _hash(folder / name) for name in (*files, *sorted(before.keys() - after))}
        kept = [n for n, now in found.items() if now and now not in (before.get(n), after.get(n))]
        new = [name for name in files if found[name] != after[name] and name not in kept]
        removed = [n for n, now in found.items() if now and n not in files and n not in kept]
        for name in new:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name])
        for name in removed:
            (folder / name).unlink()
        # With the earlier hash, a file that was kept and is then deleted comes back anew.
        hashes = after | {name: before.get(name, "") for name in kept if name in files}
        text = json.dumps({"format": FORMAT, "files": dict(sorted(hashes.items()))}, indent=1)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"{error.filename} cannot be written: {error.strerror}.") from error
    return Written(tuple(new), tuple(removed), tuple(kept))


def _earlier(folder: Path) -> Mapping[str, str]:
    """The files of the release in the folder with their hashes; none if the folder is empty."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; a release needs a folder.")
    # An empty clone of the class repository is as good as an empty folder.
    if not folder.exists() or all(path.name == ".git" for path in folder.iterdir()):
        return {}
    try:
        written = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if is_format(written["format"], FORMAT):
            # No release wrote a path that leads out of the folder.
            return {
                n: str(h)
                for n, h in written["files"].items()
                if (folder / n).resolve().is_relative_to(folder.resolve())
            }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise UserError(
        f"{folder} is not empty and holds no earlier release (there is no {MANIFEST} of one in "
        "it): nothing was written. Name another folder, or one that does not exist yet."
    )


def _hash(path: Path) -> str:
    """The hash of a file's content; "" where there is no file."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
