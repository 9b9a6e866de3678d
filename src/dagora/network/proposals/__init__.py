"""Proposals for the missing values of a row: groups, plans, Gaussian approximations and importance weights."""
