"""Secure sums over sites: masks that cancel, secret shares, signatures."""
