"""Whether a graph is any good: what it claims about data, and what the data say."""
