"""Renderers: results of graded files go in, text comes out."""
