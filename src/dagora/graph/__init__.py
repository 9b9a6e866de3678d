"""Graphs: DAGs and their equivalence classes, knowledge, metrics, random graphs, layout and drawing."""
