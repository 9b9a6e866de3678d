"""Counts and moments over sites, and the agreement on columns that precedes them."""
