"""Differential privacy: noise on sums over rows, what it costs, and what can be learned from a noisy sum."""
