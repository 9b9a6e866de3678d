"""Greedy search over classes of equivalent graphs."""
