from __future__ import annotations

import doctest
import importlib
import subprocess
import sys

import pytest

import makemore_data

MODULES = [
    "course.forward",
    "interruption",
    "model.parameters",
    "names.download",
    "names.load",
    "names.name_list",
    "names.vocabulary",
    "names.windows",
]


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, makemore_data; makemore_data.load_names; "
        "print(sorted({'torch', 'numpy', 'pooch', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", makemore_data.__all__)
def test_every_public_name_can_be_imported_and_explains_itself(name: str) -> None:
    value = getattr(makemore_data, name)
    assert isinstance(value, int) or value.__doc__


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_hold(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"makemore_data.{module}")).failed == 0
