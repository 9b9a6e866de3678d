"""Gaussian-process networks: the evidence of a family under additive or interacting kernels."""
