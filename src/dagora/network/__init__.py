"""A graph with its parameters: fit, likelihood, sampling and simulation."""
