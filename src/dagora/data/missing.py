"""Which cells count as missing."""

from __future__ import annotations

MISSING_WORDS = ("", "nan", "NaN", "NAN")


def is_missing_word(level: str) -> bool:
    """Whether a text cell counts as missing: only an empty one and NaN do; `NA` or `None` are levels."""
    return level.strip() in MISSING_WORDS
