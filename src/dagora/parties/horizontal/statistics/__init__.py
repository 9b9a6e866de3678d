"""Counts and moments over sites, and the agreement on columns before them."""
