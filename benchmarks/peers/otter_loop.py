"""Run inside otter's environment: grades the notebooks named with otter's API, one by one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from otter.api import grade_submission  # type: ignore[import-not-found] # not in ours


def main(autograder: str, out: str, notebooks: list[str]) -> None:
    """Write the points of each notebook to the file `out`."""
    scores = {}
    for notebook in notebooks:
        scores[notebook] = grade_submission(notebook, autograder, quiet=True).total
    Path(out).write_text(json.dumps(scores), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
