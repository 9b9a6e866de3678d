"""A distribution over graphs: chains over orders and partitions, exact sums, what they say and how sure it is."""
