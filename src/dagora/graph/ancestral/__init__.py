"""Graphs with hidden causes: PAGs, their orientation rules, and the PAG of a DAG with hidden nodes."""
