"""Posterior distributions over graphs: chains over orders and partitions, exact sums, and diagnostics."""
