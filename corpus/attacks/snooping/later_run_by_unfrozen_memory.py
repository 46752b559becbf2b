"""Bring frozen objects back into the collector's lists, and look for other students' answers.

must not: find a reference, a seed, or what another answer left
flag: dunder
naive: none, since there are no others
uses: places
"""

import gc

gc.unfreeze()
seen = []
for thing in gc.get_objects():
    if type(thing) is dict:
        for key in list(thing):
            if isinstance(key, str) and (key.startswith("beside") or key in ("cotangents", "references", "gradients")):
                seen.append(key)
    if type(thing).__name__ in ("Reference", "References", "Grounds", "Verdict"):
        seen.append(type(thing).__name__)
if seen:
    raise KeyError(f"found {seen}")
raise LookupError("nothing found")
