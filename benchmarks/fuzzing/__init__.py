"""Notebooks that nobody would hand in: damaged bytes, JSON trees and answers."""
