"""Graphs by continuous optimisation: acyclicity as a smooth constraint on weights."""
