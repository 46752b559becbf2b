import os
import subprocess
from pathlib import Path

import pytest

ASK = "include Makefile\nask: ; @printenv MAKEMORE_NAMES || echo not set\n"


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (None, "not set"),
        ("", "not set"),
        (" ", "not set"),
        ("bundled", "bundled"),
        ("lists/mine.txt", "{project}/lists/mine.txt"),
        ("/lists/mine.txt", "/lists/mine.txt"),
    ],
)
def test_programs_get_the_names_that_were_set_or_no_variable(
    value: str | None, seen: str, project: Path
) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEMORE_NAMES", "MAKEFLAGS")}
    if value is not None:
        environment["MAKEMORE_NAMES"] = value
    done = subprocess.run(
        ["make", "--silent", "--file=-", "ask"],
        input=ASK,
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == seen.format(project=project)
