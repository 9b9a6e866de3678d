"""Where samplers look: search spaces, priors, and the weights of all families in a space."""
