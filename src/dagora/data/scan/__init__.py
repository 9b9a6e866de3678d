"""Rows that are read in batches: sources, profiles of columns, types and levels, samples."""
