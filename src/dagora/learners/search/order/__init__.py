"""Heuristic search over orders of the variables."""
