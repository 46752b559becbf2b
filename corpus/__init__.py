"""Answers, mistakes, attacks and bugs, as data, beside the code that reads them."""
