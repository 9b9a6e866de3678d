"""Orders of many columns: only what a move can touch is grown again."""
