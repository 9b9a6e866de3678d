"""Typed columns from raw ones: cells, missing words, types and why, and an overview of it all."""
