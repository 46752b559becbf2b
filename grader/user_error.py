"""The error that a command tells in one sentence."""

from __future__ import annotations


class UserError(Exception):
    """What was asked for cannot be done; the message is one sentence that says why."""
