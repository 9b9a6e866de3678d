"""Compiled code: numba's and JAX's decorators, where kernels are kept, random numbers, threads."""
