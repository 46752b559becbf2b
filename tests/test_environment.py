"""What is said in two places is said in the same words: packages, versions, addresses, commands."""

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from corpus.readers.places import PROJECT

OTHER_NAMES_ON_CONDA = {
    "torch": "pytorch",
    "build": "python-build",
    "playwright": "playwright-python",
}
PACKAGES = ("grader", "makemore_data")
IMPORTED_AS = {"pyyaml": "yaml", "beautifulsoup4": "bs4"}
ONLY_FOR_THE_SITE = "docs"
"""The extra that `make docs` installs, and no other command."""
COME_WITH_OTHERS = {"cycler": "matplotlib", "markupsafe": "jinja2"}
NEVER_IMPORTED = {
    "ipykernel": "Jupyter starts it",
    "jupyter": "a command",
    "build": "a command",
    "check-jsonschema": "a command",
    "hatch-fancy-pypi-readme": "a plugin of hatchling",
    "hatchling": "builds the wheel",
    "import-linter": "a command",
    "mypy": "a command",
    "myst-nb": "an extension of Sphinx",
    "pre-commit": "a command",
    "ruff": "a command",
    "sphinx-book-theme": "the theme of the site",
    "sphinx-click": "an extension of Sphinx",
    "sphinx-copybutton": "an extension of Sphinx",
    "sphinx-design": "an extension of Sphinx",
    "nbval": "a plugin of pytest",
    "pytest-xdist": "a plugin of pytest",
    "types-pyyaml": "read by mypy",
}
"""Packages asked for although nothing imports them, each with its reason."""


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    text = PROJECT.joinpath("pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def bounds(requirements: list[str]) -> dict[str, str]:
    parsed = [Requirement(requirement) for requirement in requirements]
    return {r.name.lower().replace("_", "-"): str(r.specifier) for r in parsed}


def required(pyproject: dict[str, Any], *extras: str) -> dict[str, str]:
    optional = pyproject["project"]["optional-dependencies"]
    return bounds(
        [
            *pyproject["project"]["dependencies"],
            *(requirement for extra in extras for requirement in optional[extra]),
        ]
    )


def imported_packages(*folders: Path) -> set[str]:
    """The top-level packages that the Python files of some folders import, at whatever place."""
    found: set[str] = set()
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return {name.lower().replace("_", "-") for name in found - set(sys.stdlib_module_names)}


def test_conda_environment_agrees_with_pyproject(pyproject: dict[str, Any], project: Path) -> None:
    environment = yaml.safe_load((project / "environment.yml").read_text(encoding="utf-8"))
    listed = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    (by_pip,) = (entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    listed += [entry for entry in by_pip if not entry.startswith("-e ")]
    on_conda = bounds(listed)
    assert on_conda.pop("python") == pyproject["project"]["requires-python"]
    assert on_conda.pop("pip") == ""
    extras = pyproject["project"]["optional-dependencies"]
    on_pypi = required(pyproject, *extras)
    assert on_conda == {OTHER_NAMES_ON_CONDA.get(name, name): b for name, b in on_pypi.items()}


def test_make_installs_every_extra(pyproject: dict[str, Any], project: Path) -> None:
    extras = sorted(pyproject["project"]["optional-dependencies"])
    at_once = ",".join(extra for extra in extras if extra != ONLY_FOR_THE_SITE)
    makefile = (project / "Makefile").read_text(encoding="utf-8")
    assert f"-c constraints.txt -e '.[{at_once}]'" in makefile
    assert f"-c constraints.txt -e '.[{ONLY_FOR_THE_SITE}]'" in makefile
    everything = f"pip install -e '.[{','.join(extras)}]'"
    assert everything in (project / "environment.yml").read_text("utf-8")


def test_constraints_lie_within_the_bounds(pyproject: dict[str, Any], project: Path) -> None:
    lines = (project / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [Requirement(line) for line in lines if not line.startswith("#")]
    assert [str(pin) for pin in pinned] == ["torch==2.13.0", "polars==2.1.0"]
    extras = pyproject["project"]["optional-dependencies"]
    asked = [*pyproject["project"]["dependencies"], *extras["grade"]]
    bounds = {found.name: found.specifier for found in map(Requirement, asked)}
    assert all(bounds[pin.name].contains(str(pin.specifier)[2:]) for pin in pinned)


@pytest.mark.parametrize(
    ("package", "version"),
    [
        ("torch", "2.11.0"),
        ("numpy", "2.1.0"),
        ("matplotlib", "3.10.0"),
        ("ipython", "7.34.0"),
        ("ipykernel", "6.17.1"),
    ],
)
def test_what_colab_has_satisfies_the_bounds(
    package: str, version: str, pyproject: dict[str, Any]
) -> None:
    bound = required(pyproject, "lab")[package]
    assert Requirement(f"{package}{bound}").specifier.contains(version)


@pytest.mark.slow
def test_running_needs_what_is_imported_and_nothing_else(
    pyproject: dict[str, Any], project: Path
) -> None:
    imported = imported_packages(*(project / package for package in PACKAGES))
    asked_for = set(required(pyproject))
    assert asked_for <= imported, "dependencies that nothing imports"
    needed = required(pyproject, "lab", "grade", "dask", "dev")
    known = {IMPORTED_AS.get(name, name) for name in needed} | COME_WITH_OTHERS.keys()
    ours = {package.replace("_", "-") for package in PACKAGES}
    assert imported - ours <= known, "imports that pyproject.toml does not mention"


@pytest.mark.slow
def test_every_extra_is_used(pyproject: dict[str, Any], project: Path) -> None:
    extras = set(required(pyproject, *pyproject["project"]["optional-dependencies"]))
    folders = [project / name for name in (*PACKAGES, "tests", "benchmarks", "docs")]
    imported = imported_packages(*folders)
    used = {name for name in extras if IMPORTED_AS.get(name, name) in imported}
    assert extras - used == set(NEVER_IMPORTED)


def test_python_versions_agree(pyproject: dict[str, Any], project: Path) -> None:
    lowest = pyproject["project"]["requires-python"].removeprefix(">=")
    assert pyproject["tool"]["mypy"]["python_version"] == lowest
    assert pyproject["tool"]["ruff"]["target-version"] == f"py{lowest.replace('.', '')}"
    needed = f"sys.version_info >= ({lowest.replace('.', ', ')})"
    assert needed in (project / "Makefile").read_text(encoding="utf-8")


def test_the_repository_has_one_address(pyproject: dict[str, Any], project: Path) -> None:
    repository = pyproject["project"]["urls"]["Repository"]
    texts = [
        project / name
        for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "environment.yml")
    ]
    texts += (project / "docs/pages").rglob("*.md")
    texts += (project / "notebooks").rglob("*.ipynb")
    for path in texts:
        addresses = re.findall(
            r"(?:github\.com|colab\.research\.google\.com/github)/([\w.-]+/[\w.-]+)",
            path.read_text(encoding="utf-8"),
        )
        others = ("karpathy/", "containers/", "pytorch/", "dequelabs/")
        ours = [a.removesuffix(".git") for a in addresses if not a.startswith(others)]
        assert set(ours) <= {repository.removeprefix("https://github.com/")}, path
    assert repository in (project / "README.md").read_text(encoding="utf-8")


def test_the_sources_leave_the_address_to_pyproject(project: Path) -> None:
    for path in (project / "notebooks/source").glob("*.py"):
        assert "backprop-ninja/backprop-ninja" not in path.read_text(encoding="utf-8"), path


def test_the_readme_has_a_colab_badge_for_each_notebook(
    pyproject: dict[str, Any], project: Path
) -> None:
    readme = (project / "README.md").read_text(encoding="utf-8")
    where = pyproject["project"]["urls"]["Repository"].removeprefix("https://github.com/")
    for source in (project / "notebooks/source").glob("*.py"):
        badge = f"colab.research.google.com/github/{where}/blob/main/notebooks/{source.stem}.ipynb"
        assert badge in readme


def test_links_between_the_projects_texts_lead_somewhere(project: Path) -> None:
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        text = (project / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text) + re.findall(r'src="([^"]+)"', text):
            if not target.startswith("https://"):
                assert (project / target).exists(), f"{name} links to {target}"


def test_make_help_and_the_readme_name_the_same_commands(project: Path) -> None:
    makefile = (project / "Makefile").read_text(encoding="utf-8")
    documented = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    phony = " ".join(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE))
    assert documented <= set(phony.split())
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (project / name).read_text(encoding="utf-8")
        mentioned = set(re.findall(r"\bmake ([a-z-]+)(?=[`\s])", text))
        assert {word for word in mentioned if f"`make {word}`" in text} <= documented, name


def test_ci_runs_what_the_readme_runs(project: Path) -> None:
    readme = (project / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^\$ make ([a-z-]+)", readme, re.MULTILINE))
    assert {"demo", "test", "check", "docs"} <= shown
    called = re.findall(r"^make (.+)$", (project / ".ci/run").read_text("utf-8"), re.MULTILINE)
    # JupyterLab waits for somebody to work in it.
    assert shown - {"lab"} <= set(" ".join(called).split())


def test_pre_commit_runs_the_tools_of_the_environment(project: Path) -> None:
    config = yaml.safe_load((project / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    for repository in config["repos"]:
        assert repository["repo"] == "local", "a tool of its own would have a version of its own"
