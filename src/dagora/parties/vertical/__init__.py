"""Columns split between two owners: what they compute together without showing them."""
