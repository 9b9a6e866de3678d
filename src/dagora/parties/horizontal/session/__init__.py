"""A session of a coordinator and its sites: questions, sums over rows, and statistics from them."""
