"""A distribution over graphs: chains over orders and partitions, exact sums, and how sure they are."""
