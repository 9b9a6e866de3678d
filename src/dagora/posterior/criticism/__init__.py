"""Criticism of a graph: what it claims about data, against what the data say."""
