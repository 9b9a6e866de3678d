"""Graphs of what causes what among some variables, where causes that nobody measured are allowed for."""
