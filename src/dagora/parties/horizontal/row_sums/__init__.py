"""Sums over rows as integers: what a site adds to each, and what the coordinator reads from the total."""
