"""Compares evidence with references, and gives verdicts."""
