"""A course of one notebook, for tests of how a course is made."""

from __future__ import annotations

from pathlib import Path

SOURCE = """# %% [markdown]
# {{ colab }}
# {{ hints: da }}

# %% tags=["data-dependent"]
import os
print("3 names from", os.environ["MAKEMORE_NAMES"])

# %%
def check(*names):
    return object()

# %%
# answer: ex1-toy
### BEGIN SOLUTION
da = "all right"
### END SOLUTION
print(da)

# %%
# check: ex1-toy
check("da")
"""


def edit(path: str, find: str, replace: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    assert find in text
    Path(path).write_text(text.replace(find, replace), encoding="utf-8")
