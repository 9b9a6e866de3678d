"""Secure sums over sites: masks that cancel, signatures, and the roster of a run."""
