"""DiBS+: graphs as continuous particles that Stein's method spreads over the posterior."""
