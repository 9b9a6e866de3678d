"""Wright & Yang 2004: what private K2 costs, and what its approximate score changes."""
