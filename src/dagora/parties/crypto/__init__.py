"""Primitives of two-party computation: circuits, garbling, oblivious transfer, encryption with structure."""
