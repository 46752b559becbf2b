"""Mistakes: the formulas that differ from a right one in one place, each with its name."""

from grader.mistakes.search import LARGEST_FORMULA, mistakes_of
from grader.mistakes.setting import Mistake, Setting

__all__ = ["LARGEST_FORMULA", "Mistake", "Setting", "mistakes_of"]
