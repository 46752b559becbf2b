"""Explanation: why a hand-written backward pass is wrong."""
