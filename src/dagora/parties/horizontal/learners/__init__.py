"""Methods that need more than sums of counts: ADMM, and the baselines beside it."""
