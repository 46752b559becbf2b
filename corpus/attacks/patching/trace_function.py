"""Let a trace function change what the worker's functions return.

must not: become a verdict, or hold up the worker
flag: module
naive: none, since nothing naive is traced
"""

import sys


def tracer(frame, event, argument):
    if "double" in frame.f_locals:
        frame.f_locals["double"] = False
    return tracer


sys.settrace(tracer)
sys.setprofile(lambda *_: None)
dlogits = torch.ones_like(logits)
