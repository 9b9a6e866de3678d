"""Rows spread over sites that may not pool them: secure sums, and what can be learned from sums."""
