"""Renderers: what became of the files goes in, text comes out."""
