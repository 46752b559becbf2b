"""Formulas: expressions over a program's tensors and their gradients, as trees that can be edited.

A forward step is read as a formula, its gradient is derived as one, and a mistake is a formula that
differs from the right one in one place. Trees share what they have in common, so that a mistake
costs no more to evaluate than the way from the edit to the root.
"""
