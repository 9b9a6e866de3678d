"""Pieces of text in messages."""

import pytest

from dagora.base.phrases import LONGEST_MISSPELT, nearest, span_in_words

DAY = 86400.0


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (10 * DAY, 40 * DAY, "10 days to months"),
        (40 * DAY, 90 * DAY, "months, or far longer"),
        (DAY, 40 * DAY, "1 day to months"),
        (0.2, 90.0, "0.2 seconds to 2 minutes"),
        (0.1, 0.5, "half a second or less"),
    ],
)
def test_spans_of_time(low: float, high: float, words: str) -> None:
    assert span_in_words(low, high) == words


def test_names_too_long_to_be_compared_are_not() -> None:
    name = "a" * LONGEST_MISSPELT
    assert nearest(name, [name]) == name
    assert nearest(name + "a", [name]) is None
    assert nearest(name, [name + "a"]) is None
