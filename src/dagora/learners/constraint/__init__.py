"""A graph from tests of independence."""
