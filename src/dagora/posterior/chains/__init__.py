"""Markov chains over orders and partitions: their kernels, how they are run, and checkpoints."""
