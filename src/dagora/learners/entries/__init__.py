"""The entries of the registry of methods, one file for each family."""
