"""Graphs from scores."""
