"""Rows spread over sites that may not pool them: secure sums, and what is learned from sums."""
