"""Match a regular expression that backtracks for years.

must not: go on beyond its deadline
flag: time-limit
naive: none, since it takes too long
"""

import re

dlogits = re.match("(a+)+$", "a" * 64 + "b")
