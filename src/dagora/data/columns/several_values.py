"""Cells that hold several values: the answers 1;3 to one question, a blood pressure of 120/80, 5'11"."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from dagora.data.columns.levels import IS_NUMBER

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKS = ";|,"  # between answers
TWO_NUMBERS = re.compile(
    "(?P<first>[0-9]{1,3}) ?(?:[/x×'] ?[0-9]{1,3} ?(?:\"|'')?|[a-z]{1,6}[.]? ?[0-9]{1,2} ?[a-z]{1,6}[.]?)"
)
# 2-4 as a spreadsheet writes it.
DAY_OF_MONTH = re.compile(
    "[0-9]{1,2}[-. ](jan|feb|mar|mrz|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[.]?|"
    "(jan|feb|mar|mrz|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)-[0-9]{1,2}",
    re.IGNORECASE,
)
HAS_DIGIT = re.compile("[0-9]")
WORD = re.compile(r"[^\W\d_]{3,}( [^\W\d_]+)*")
PADDED = re.compile("[+-]?0[0-9]")  # codes
FEWEST_NUMBERS = 6  # beside one or two words
FEWEST_LISTS = 8  # different lists of digits; fewer may be so by chance
MOST_ANSWERS = 3  # digits of the longest list, at least; shorter lists occur, too
WRITTEN_TOGETHER = "seem to be several answers each, written together"
MANY_PAIRS = 20  # fewer levels may be names of groups


def several_values(levels: Sequence[str]) -> str | None:
    """A sentence on the levels of a column whose cells hold several values; None where they hold one.

    >>> several_values(["1", "1;3", "3", "1;2;3", "2"])
    "seem to be several answers each ('1;3'): make each answer a column of its own"
    >>> several_values([f"{110 + k}/{70 + k}" for k in range(25)])
    "are two numbers each ('110/70'): make two columns of them, or one number"
    >>> several_values(["0", "10-Jun", "5-Jan", "11-20"])
    "are dates in part ('10-Jun', '5-Jan'), as a spreadsheet makes them of 6-10: write what they were"
    >>> several_values(["Yes, often", "Yes, rarely", "No"]), several_values(["1/2", "2/3"])
    (None, None)
    """
    answers = next((level for mark in MARKS if (level := several_answers(levels, mark))), None)
    if answers is not None:
        return f"seem to be several answers each ('{answers}'): make each answer a column of its own"
    days = [level for level in levels if DAY_OF_MONTH.fullmatch(level)]
    others = [level for level in levels if level not in days and HAS_DIGIT.search(level)]
    if days and others:
        named = ", ".join(f"'{day}'" for day in days[:2])
        return f"are dates in part ({named}), as a spreadsheet makes them of 6-10: write what they were"
    pairs = [TWO_NUMBERS.fullmatch(level) for level in levels]
    if len(levels) <= MANY_PAIRS or not all(pair and not PADDED.match(pair["first"]) for pair in pairs):
        return None
    return f"are two numbers each ('{levels[0]}'): make two columns of them, or one number"


def several_answers(levels: Sequence[str], mark: str) -> str | None:
    """A level of several answers, where levels are sets of fewer answers, and not all of one size."""
    parts = [[part.strip() for part in level.split(mark)] for level in levels]
    seen = Counter(answer for answers in parts for answer in answers)
    sets = all(len(set(answers)) == len(answers) and all(answers) for answers in parts)
    if not sets or len(seen) >= len(levels) or len({*map(len, parts)}) < 2:
        return None
    return next(level for level, answers in zip(levels, parts, strict=True) if len(answers) > 1)


def answers_in_digits(numbers: Sequence[float]) -> str | None:
    """A number that lists answers by their digits, as 134 does; None where the numbers are not all such.

    >>> answers_in_digits([1, 2, 3, 5, 12, 13, 25, 134]), answers_in_digits([1, 2, 3, 10, 12, 13, 25, 134])
    ('134', None)
    """
    words = [str(int(number)) for number in numbers]
    lists = all(word[0] > "0" and sorted({*word}) == [*word] for word in words)
    if not lists or len(words) < FEWEST_LISTS or len({*map(len, words)}) < MOST_ANSWERS:
        return None
    return next(word for word in words if len(word) >= MOST_ANSWERS)


def words_among_numbers(levels: Sequence[str]) -> list[str]:
    """The words among levels that are numbers otherwise, such as `never` among numbers of cigarettes.

    >>> words_among_numbers([*map(str, range(8)), "never"]), words_among_numbers(["1", "2", "3", "other"])
    (['never'], [])
    """
    words = [level for level in levels if WORD.fullmatch(level)]
    numbers = [level for level in levels if IS_NUMBER.fullmatch(level)]
    few = len(words) <= 2 and len(numbers) >= FEWEST_NUMBERS and len(words) + len(numbers) == len(levels)
    return words if few and not any(map(PADDED.match, numbers)) else []
