"""Cells that count as missing, and words that often stand for a missing value.

An empty cell and NaN are missing, always. Words such as `NA` or `?` are levels in some tables and missing in
others, so the user chooses: `na` is "none" (they are levels), a list of words (those are missing), or "auto".
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from dagora.base.errors import OptionError
from dagora.base.phrases import split_list

MISSING_WORDS = ("", "nan", "NaN", "NAN")
# Compared in small letters.
OFTEN_MISSING = frozenset(
    {
        "na",
        "n/a",
        "#n/a",
        "n.a.",
        "<na>",
        "null",
        "#null!",
        "none",
        "nil",
        "?",
        "??",
        ".",
        "..",
        "-",
        "--",
        "\\n",
    }
)
# In small and capital letters.
ALL_OFTEN_MISSING = tuple(
    sorted(
        "".join(letters)
        for word in OFTEN_MISSING
        for letters in product(*({letter, letter.upper()} for letter in word))
    )
)
# Numbers that often stand for a missing one, where no other value comes near.
MISSING_NUMBERS = (-9.0, -99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0)


def is_missing_word(level: str) -> bool:
    """Return True if a text cell counts as missing: only an empty one and NaN do."""
    return level.strip() in MISSING_WORDS


def often_means_missing(word: str) -> bool:
    """Return True if a word often stands for a missing value.

    >>> [often_means_missing(word) for word in ("NA", "n/a", "?", "no")]
    [True, True, True, False]
    """
    return word.strip().lower() in OFTEN_MISSING


def missing_words(na: str | Iterable[str]) -> tuple[str, ...] | None:
    """Words that the user says are missing; None where that is left to us ("auto").

    >>> missing_words("NA, ?"), missing_words(["none"]), missing_words("none"), missing_words("auto")
    (('NA', '?'), ('none',), (), None)
    """
    if na == "auto":
        return None
    if na == "none":
        return ()
    listed = split_list(na) if isinstance(na, str) else list(na)
    words = tuple(str(word).strip() for word in listed if str(word).strip())
    if not words:
        raise OptionError("na is auto, none, or the words that mean missing, such as NA,?")
    return words
