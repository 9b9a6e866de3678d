"""Candidate parent sets: how they are found, pruned, stored and read."""
