"""Parties as real processes on one machine."""
