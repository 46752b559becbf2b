"""Report problems at lines and in cells that do not exist, with markup of a megabyte in them.

must not: break a report, or be written into one as it is
flag: module
naive: none, since there is no worker
"""

import sys

for name in ("grader.worker.execution", "grader.worker.results"):
    module = sys.modules.get(name)
    problem = getattr(module, "Problem", None)
    if problem is not None:
        module._describe = lambda statement, _: problem(
            statement.number, "<script>alert(1)</script>", "\x1b[2J=HYPERLINK(1)", "<img src=x>" * 10**5, 10**30, -7
        )
dlogits = torch.ones_like(nothing)
