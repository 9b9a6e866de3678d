"""What draws say: edge probabilities, features, consensus graphs, diagnostics, pictures."""
