"""Raise an exception whose message never ends to be made.

must not: go on beyond its deadline
flag: time-limit
needs: patience
naive: none, since it earns nothing by it
"""


class Endless(Exception):
    def __str__(self):
        while True:
            pass

    __repr__ = __str__


dlogits = ...
raise Endless
