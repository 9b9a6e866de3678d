"""Scores of families with discrete and continuous columns."""
