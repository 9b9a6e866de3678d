"""Methods to which sites show answers of their own: ADMM, votes and averages, and their tasks."""
