"""A graph from a smooth program: acyclicity as an equation, weights by convex steps."""
