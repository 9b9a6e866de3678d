"""Scores of families, and the parent sets worth keeping."""
