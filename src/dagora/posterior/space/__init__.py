"""Search spaces of samplers, priors over graphs, and the weights of all families in a space."""
