"""Rows in partitions on other machines: each is looked at, coded and counted where it is; sums come back."""
