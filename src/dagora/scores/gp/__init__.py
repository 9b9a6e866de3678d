"""Gaussian-process networks: the evidence of a family under kernels with and without interactions."""
