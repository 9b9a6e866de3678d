"""Data that may not move: how parties talk, and what they can compute together."""
