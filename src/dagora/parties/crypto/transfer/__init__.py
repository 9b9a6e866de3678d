"""Oblivious transfer, its extension, and the pseudorandom functions built on it."""
