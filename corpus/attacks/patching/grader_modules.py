"""Import the grader inside the worker and replace what judges.

must not: reach the process that judges
flag: module
naive: none, since it is not judged by the grader
peer: nbgrader, otter
"""

import sys

for module in ("grader.grading.judge", "grader.program.compare", "grader.verdict", "grader.grading.grade"):
    try:
        __import__(module)
    except Exception:
        continue
    for name, value in list(vars(sys.modules[module]).items()):
        if callable(value) and not isinstance(value, type):
            setattr(sys.modules[module], name, lambda *_, **__: True)
try:
    import grader.program.compare

    grader.program.compare.FLOAT64_TOLERANCE = 1e9
except ImportError:
    pass
dlogits = torch.ones_like(logits)
