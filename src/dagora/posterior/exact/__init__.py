"""Exact sums over all graphs of a few variables, and independent draws from them."""
