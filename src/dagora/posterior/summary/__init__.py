"""Summaries of draws: edge probabilities, features, consensus graphs, diagnostics, pictures."""
