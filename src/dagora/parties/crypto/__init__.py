"""Primitives of two-party computation: garbled circuits, oblivious transfer, homomorphic encryption."""
