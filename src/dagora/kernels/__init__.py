"""Compiled code with numba and JAX: decorators, the cache of kernels, random numbers, threads."""
