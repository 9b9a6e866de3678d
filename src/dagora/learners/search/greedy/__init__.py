"""Greedy search over single edges."""
