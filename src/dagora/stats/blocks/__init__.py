"""Counting many sets of columns in one walk through the rows, block by block."""
