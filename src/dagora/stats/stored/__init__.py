"""Statistics as files: exact sums and counts that are saved, merged and subtracted."""
