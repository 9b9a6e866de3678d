"""The path solver of NOTEARS: a smooth path gives an order, exact moves improve it."""
