"""`python -m benchmarks [NAME...]` runs the benchmarks, each in a process of its own.

Without a name it runs those that take a minute or two; with `all`, every one.
"""

import ast
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent

TOOLS = {"class_of_students"}
"""What the benchmarks use, and measures nothing itself."""

LONG = {
    *("grade_fuzz", "grade_large_class", "grade_peers", "grade_two_workers"),
}
"""What is run only when it is named: each takes many minutes, or installs something."""


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all but the long; the exit status is 1 if one of them failed."""
    modules = {
        path.stem: path for path in sorted(FOLDER.glob("[!_]*.py")) if path.stem not in TOOLS
    }
    if names == ["all"]:
        names = list(modules)
    if unknown := [name for name in names if name not in modules]:
        print(f"There is no benchmark {unknown[0]}; there are {', '.join(modules)}.")
        return 2
    failed = []
    for name in names or (name for name in modules if name not in LONG):
        summary = ast.get_docstring(ast.parse(modules[name].read_text(encoding="utf-8"))) or ""
        print(f"\n{name}: {summary.partition(chr(10))[0]}", flush=True)
        # A process each: what one has imported or allocated would change the figures of the next.
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        if subprocess.run(command, check=False, cwd=FOLDER.parent).returncode:
            failed.append(name)
    if failed:
        print(f"\nFailed: {', '.join(failed)}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
