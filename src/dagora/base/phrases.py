"""Small pieces of text in messages: counts, names to choose from, lists with commas, spans of time."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable

# Controls of terminals, marks and overrides of direction, breaks of lines, invisible tags, half characters.
CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)


def amount(number: int, noun: str) -> str:
    """A number with its noun.

    >>> amount(1, "draw"), amount(3, "draw")
    ('1 draw', '3 draws')
    """
    return f"{number} {noun}" + "s" * (number != 1)


def was_or_were(names: Collection[str]) -> str:
    """The verb after some names.

    >>> was_or_were(["dose"]), was_or_were(["dose", "diet"])
    ('was', 'were')
    """
    return "was" if len(names) == 1 else "were"


LONGEST_MISSPELT = 200
"""Letters of a name that is compared with others: the comparison takes the square of it."""


def nearest(name: str, names: Iterable[str], likeness: float = 0.6) -> str | None:
    """The name that was probably meant: one that is spelt alike, in small or capital letters.

    >>> nearest("Age", ["wage", "age"]), nearest("cuogh", ["cough", "dust"]), nearest("zebra", ["dust"])
    ('age', 'cough', None)
    """
    if len(name) > LONGEST_MISSPELT:
        return None
    listed = {known.lower(): known for known in reversed(list(names)) if len(known) <= LONGEST_MISSPELT}
    found = difflib.get_close_matches(name.lower(), listed, n=1, cutoff=likeness)
    return listed[found[0]] if found else None


def among(names: Iterable[str], most: int = 10) -> str:
    """List names to choose from, not too many of them.

    >>> among("abc"), among("abc", most=2)
    ('known are a, b, c', 'known are a, b and 1 more')
    """
    return f"known are {some_of(names, most)}"


def some_of(parts: Iterable[str], most: int = 3, *, between: str = ", ", noun: str = "") -> str:
    """The first few parts of a list, so that it stays readable, and how many more there are.

    >>> some_of("ab"), some_of("abcde", noun="letters")
    ('a, b', 'a, b, c and 2 more letters')
    """
    listed = list(parts)
    rest = f" and {len(listed) - most} more {noun}".rstrip() if len(listed) > most else ""
    return between.join(listed[:most]) + rest


def find_repeated(names: Iterable[str]) -> str | None:
    """The first name that comes again; None where all differ.

    >>> find_repeated("abcb"), find_repeated("abc")
    ('b', None)
    """
    return next((name for name, number in Counter(names).items() if number > 1), None)


def hidden_controls(text: str) -> list[str]:
    r"""Characters that change what a screen shows instead of being shown: escapes, line breaks, directions.

    >>> hidden_controls("age"), hidden_controls("a\x1b[2Jge"), hidden_controls("a\u202ege")
    ([], ['U+001B'], ['U+202E'])
    """
    if text.isprintable():
        return []
    return sorted({f"U+{ord(control):04X}" for control in CONTROLS.findall(text)})


def printable(text: str) -> str:
    r"""Text as it may go to a screen or a log: what would change the screen is spelt out.

    >>> print(printable("a\x1b[2Jge"))
    a\x1b[2Jge
    """
    return CONTROLS.sub(lambda found: ascii(found.group())[1:-1], text)


def comma_list(names: Iterable[str]) -> str:
    """Names as one list with commas; a name that has one is in quotes.

    >>> comma_list(["a", "c, d"])
    'a,"c, d"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


# A name up to a comma; in quotes it may hold commas, and quotes twice. Python's csv refuses line breaks.
LISTED_NAME = re.compile(r'\s*(?:"((?:[^"]+|"")*)(?:"([^,]*)|\Z)|([^,]*))(?:,|\Z)')


def split_list(listed: str) -> list[str]:
    """Undo `comma_list`; blanks around names and empty names do not count.

    >>> split_list('a, b,"c, d",')
    ['a', 'b', 'c, d']
    """
    cells = [alone or quoted.replace('""', '"') + rest for quoted, rest, alone in LISTED_NAME.findall(listed)]
    return [cell.strip() for cell in cells if cell.strip()]


UNITS = (("second", 1.0), ("minute", 60.0), ("hour", 3600.0), ("day", 86400.0))
MONTH = 30 * 86400.0  # longer spans are not worth a number


def span_in_words(low: float, high: float) -> str:
    """A span of time as people say it.

    >>> span_in_words(0.1, 0.4), span_in_words(0.3, 2.6), span_in_words(45, 200)
    ('half a second or less', '0.3 to 3 seconds', '45 seconds to 3 minutes')
    >>> span_in_words(4000, 9000), span_in_words(0.7, 0.95), span_in_words(61, 65)
    ('1 to 2 hours', '0.7 to 1 second', '1 minute')
    """
    if high <= 0.5:
        return "half a second or less"
    if low > MONTH:
        return "months, or far longer"
    (one, unit), (other, largest) = (in_unit(low), in_unit(high))
    last = f"{other} {largest}{'s' * (other != '1')}"
    if high > MONTH:
        return f"{one} {unit}{'s' * (one != '1')} to months"
    if (one, unit) == (other, largest):
        return last
    return f"{one} to {last}" if unit == largest else f"{one} {unit}{'s' * (one != '1')} to {last}"


def in_unit(seconds: float) -> tuple[str, str]:
    """A number of the largest unit that fits, with one digit that counts, or two."""
    unit, size = next(((unit, size) for unit, size in reversed(UNITS) if seconds >= 0.99 * size), UNITS[0])
    value = seconds / size
    return f"{value:.0f}" if value >= 0.95 else f"{value:.1g}", unit
