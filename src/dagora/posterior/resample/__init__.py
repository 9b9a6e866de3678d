"""Learning again and again from rows drawn anew, to see how far a graph depends on chance."""
