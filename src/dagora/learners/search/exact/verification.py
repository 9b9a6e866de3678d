"""The check of a solver: the score that it claims is that of its network here."""

from __future__ import annotations

# The solver's values and ours may differ by this share of the values that it sees: its tolerance.
AGREEMENT = 1e-6

PHASE = "integer programming"


class VerificationError(Exception):
    """The solver's answer disagrees with our own computation of its score."""
