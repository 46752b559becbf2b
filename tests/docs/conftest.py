"""The browser of the tests of the built site."""

from tests.helpers.chromium import browser

__all__ = ["browser"]
