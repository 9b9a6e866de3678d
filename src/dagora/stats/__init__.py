"""Sums over rows: counts and moments."""
