"""What is said to the user: options are named as the user writes them, and warnings point at the user's line.

The same message may answer a command (`--missing drop`), a call in Python (`missing="drop"`), or a user of
the live page, who sees neither. Messages therefore name options through `option` and `setting`; the command
and the page say once that they are speaking.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
import shlex
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from dagora.base.errors import DagoraWarning

PACKAGE = str(Path(__file__).resolve().parents[1])
# Options whose value on the command line is a list with commas.
LISTS = frozenset({"discrete", "continuous", "drop"})
# Controls of terminals, marks and overrides of direction, breaks of lines, invisible tags, half characters.
CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)

_silent: ContextVar[bool] = ContextVar("_silent", default=False)
_counting = threading.Lock()
_commands = 0  # how many commands this process is answering; several threads may
_lacking: dict[str, str] = {}  # options that the command at work lacks, and what is said instead

PageWords = Callable[[str, object], str]
"""How a page names an option (as Python does) and its value; None stands for no value."""

_pages: list[PageWords] = []  # of the answers to pages that this process is at


@contextmanager
def to_command_line() -> Iterator[None]:
    """Within this block, messages are for a user of the command; nothing is left to Python's warnings."""
    global _commands  # noqa: PLW0603 (a process speaks either to a shell or to Python)
    with _counting:
        _commands += 1
    try:
        yield
    finally:
        with _counting:
            _commands -= 1


@contextmanager
def to_page(words: PageWords) -> Iterator[None]:
    """Within this block, messages are for a user of a page, whose own `words` name what is chosen there.

    >>> with to_page(lambda name, value: f"“{name}: {value}”"):
    ...     option("missing", "drop"), setting("ess", 10)
    ('“missing: drop”', '“options: ess = 10”')
    """
    with _counting:
        _pages.append(words)
    try:
        yield
    finally:
        with _counting:
            _pages.remove(words)


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "draw"), counted(3, "draw")
    ('1 draw', '3 draws')
    """
    return f"{number} {noun}" + "s" * (number != 1)


@contextmanager
def without_option(name: str, instead: str) -> Iterator[None]:
    """Within this block, for a command that lacks an option, messages say something else instead of it.

    >>> with to_command_line(), without_option("drop", "in the file"):
    ...     print(f"leave it out ({option('drop', 'age')})")
    leave it out (in the file)
    """
    with _counting:
        _lacking[name] = instead
    try:
        yield
    finally:
        with _counting:
            _lacking.pop(name, None)


def option(name: str, value: object = None) -> str:
    """Name an option, with a value if there is one to choose.

    >>> option("missing", "drop"), option("max_parents", 3), option("drop", "a, b"), option("score")
    ('missing="drop"', 'max_parents=3', 'drop=["a, b"]', 'score')
    >>> with to_command_line():
    ...     print(option("missing", "drop"), option("drop", "a, b"), option("max_parents"))
    --missing drop --drop '"a, b"' --max-parents
    """
    for words in _pages[-1:]:
        return words(name, value)
    if name in _lacking:
        return _lacking[name]
    if not _commands:
        if value is None:
            return name
        quoted = f'"{value}"' if isinstance(value, str) else f"{value}"
        return f"{name}=[{quoted}]" if name in LISTS else f"{name}={quoted}"
    flag = f"--{name.replace('_', '-')}"
    if value is None:
        return flag
    return f"{flag} {shlex.quote(comma_list([str(value)]) if name in LISTS else str(value))}"


def setting(name: str, value: object) -> str:
    """Name an option of a method or score with a value.

    >>> setting("ess", 10)
    'ess=10'
    >>> with to_command_line():
    ...     setting("ess", 10)
    '--option ess=10'
    """
    if _pages:
        return f"“options: {name} = {value}”"
    return f"--option {name}={value}" if _commands else option(name, value)


def spoken(*, python: str, command: str) -> str:
    """Choose between two ways to say the same: to a user of Python, or of the command.

    >>> spoken(python="learn_federated", command="`dagora federate`")
    'learn_federated'
    """
    return command if _commands or _pages else python


def nearest(name: str, names: Iterable[str], likeness: float = 0.6) -> str | None:
    """The name that was probably meant: one that is spelt alike, in small or capital letters.

    >>> nearest("Age", ["wage", "age"]), nearest("cuogh", ["cough", "dust"]), nearest("zebra", ["dust"])
    ('age', 'cough', None)
    """
    listed = {known.lower(): known for known in reversed(list(names))}
    found = difflib.get_close_matches(name.lower(), listed, n=1, cutoff=likeness)
    return listed[found[0]] if found else None


def among(names: Iterable[str], most: int = 10) -> str:
    """List names to choose from, not too many of them.

    >>> among("abc"), among("abc", most=2)
    ('known are a, b, c', 'known are a, b and 1 more')
    """
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return f"known are {', '.join(listed[:most])}{more}"


def hidden_controls(text: str) -> list[str]:
    r"""Characters that change what a screen shows instead of being shown: escapes, line breaks, directions.

    >>> hidden_controls("age"), hidden_controls("a\x1b[2Jge"), hidden_controls("a\u202ege")
    ([], ['U+001B'], ['U+202E'])
    """
    if text.isprintable():
        return []
    return sorted({f"U+{ord(control):04X}" for control in CONTROLS.findall(text)})


def shown(text: str) -> str:
    r"""Text as it may go to a screen or a log: what would change the screen is spelt out.

    >>> print(shown("a\x1b[2Jge"))
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


def split_list(listed: str) -> list[str]:
    """Undo `comma_list`; blanks around names and empty names do not count.

    >>> split_list('a, b,"c, d",')
    ['a', 'b', 'c, d']
    """
    cells = next(csv.reader([listed], skipinitialspace=True), [])
    return [cell.strip() for cell in cells if cell.strip()]


@contextmanager
def unannounced() -> Iterator[None]:
    """Within this block, in this thread, warnings are given to nobody.

    >>> with unannounced():
    ...     announce(["two rows tell little"])
    """
    before = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(before)


def announce(messages: Iterable[str]) -> None:
    """Give warnings to a user of Python, at the line that called the library; a command prints its own."""
    if _commands or _pages or _silent.get():
        return
    depth, frame = 1, sys._getframe()  # noqa: SLF001 (`warnings` itself works this way)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        depth, frame = depth + 1, frame.f_back
    for message in messages:
        warnings.warn(message, DagoraWarning, stacklevel=depth)


UNITS = (("second", 1.0), ("minute", 60.0), ("hour", 3600.0), ("day", 86400.0))
MONTH = 30 * 86400.0


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
