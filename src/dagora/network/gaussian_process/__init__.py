"""Networks whose nodes are Gaussian processes of their parents, with functions that have bands."""
