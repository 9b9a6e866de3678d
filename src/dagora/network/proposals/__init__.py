"""Proposals for the missing values of a row: groups, plans, approximations, weights."""
