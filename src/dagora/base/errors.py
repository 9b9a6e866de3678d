"""The errors that a user can cause.

Every error that a user can cause is a `DagoraError`: its text is one line that names the file, column or
option at fault and says what to do. The command prints that line and exits with code 2.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.base.phrases import printable
from dagora.base.wording import PYTHON, Words, chosen_words, mentions, render
from dagora.base.wording import option as mention_option

if TYPE_CHECKING:
    from typing import Self

PACKAGE = str(Path(__file__).resolve().parents[1])


class DagoraError(Exception):
    """Base of every error that bad input can cause.

    It carries a neutral `text`, which `str` writes in the words of the door at work: Python, the command or
    a page. It may be built from parts instead: the `option` at fault, its `value`, what it `must` be or do.
    The text mentions the `column` at fault, and the `options` that are the way out, with their values.

    >>> error = OptionError(option="max_parents", value=-1, must="be a whole number, 0 or more")
    >>> print(error)
    max_parents must be a whole number, 0 or more, not -1
    >>> from dagora.base.wording import COMMAND
    >>> error.render(COMMAND)
    '--max-parents must be a whole number, 0 or more, not -1'
    """

    def __init__(
        self, text: str = "", *, option: str | None = None, value: object = None, must: str = ""
    ) -> None:
        if option is not None and must:
            text = f"{mention_option(option)} must {must}, not {briefly(value)}"
        super().__init__(one_line(text, PYTHON))
        self.text = text
        self.option, self.value, self.must = option, value, must
        self.words: Words | None = None  # of the last door that it went through

    @property
    def options(self) -> list[tuple[str, str | None]]:
        """The options that the text mentions, with their values."""
        return mentions(self.text, "option", "setting")

    @property
    def column(self) -> str | None:
        """The first column that the text mentions."""
        return next((name for name, _ in mentions(self.text, "column")), None)

    def with_text(self, text: str) -> Self:
        """Return the error with another text, most often its own `text` with more around it; parts stay."""
        self.text, self.args = text, (one_line(text, PYTHON),)
        return self

    def render(self, words: Words | None = None) -> str:
        """The text in the words of a door: by default of the last one that it went through or is in."""
        return one_line(self.text, words or self.words)

    def __str__(self) -> str:
        return self.render()

    def __reduce__(self) -> tuple[Any, ...]:
        value = self.value if isinstance(self.value, str | int | float | None) else briefly(self.value)
        return (rebuild, (type(self), {**self.__dict__, "words": None, "value": value}, self.args))


def one_line(text: str, words: Words | None) -> str:
    r"""A text in the words of a door; line breaks and other controls, which names may hold, are spelt out.

    >>> print(one_line("there is no column 'a\n'", PYTHON))
    there is no column 'a\n'
    """
    return printable(render(text, words))


def rebuild(kind: type[DagoraError], content: dict[str, Any], args: tuple[Any, ...]) -> DagoraError:
    """An error as it was before it was pickled; the door where it is shown writes it."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(content)
    return error


def briefly(value: object, most: int = 60) -> str:
    """A value for a message: not too long, whatever it is.

    >>> briefly("half"), briefly("9" * 5000, most=5), briefly(10**5000)
    ("'half'", "'9999…", 'a number with too many digits')
    """
    try:
        text = repr(value)
    except ValueError:
        return "a number with too many digits"
    return text if len(text) <= most else f"{text[:most]}…"


@contextmanager
def speaking(words: Words) -> Iterator[None]:
    """Within this block, a door answers in these words; an error that leaves it keeps them.

    >>> from dagora.base.wording import COMMAND, option
    >>> with speaking(COMMAND):
    ...     render(option("missing", "drop"))
    '--missing drop'
    """
    before = chosen_words.set(words)
    try:
        yield
    except DagoraError as error:
        error.words = error.words or words
        raise
    finally:
        chosen_words.reset(before)


_silent: ContextVar[bool] = ContextVar("_silent", default=False)


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Within this block, in this thread, warnings are given to nobody; a filter would silence all threads."""
    before = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(before)


def announce(messages: Iterable[str]) -> None:
    """Give warnings to Python, at the line that called the library; other doors silence them there."""
    if _silent.get():
        return
    depth, frame = 1, sys._getframe()  # noqa: SLF001 (`warnings` itself works this way)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        depth, frame = depth + 1, frame.f_back
    for message in messages:
        warnings.warn(render(message), DagoraWarning, stacklevel=depth)


class DagoraWarning(UserWarning):
    """Something about data or a result that a user should not miss; the result holds it too."""


class DataError(DagoraError):
    """The data cannot be used as they are."""


class GraphError(DagoraError):
    """An invalid graph: a cycle, an unknown node, two nodes with one name."""


class FormatError(DagoraError):
    """A file that cannot be read or written in its format."""


class KnowledgeError(DagoraError):
    """Prior knowledge that contradicts itself, names unknown variables, or that a method cannot obey."""


class OptionError(DagoraError):
    """An unknown method, score or option, or a value out of its range."""


class QueryError(DagoraError):
    """A question that cannot be read, or that a network cannot answer."""


class RowsUnavailableError(DagoraError):
    """A method asked for rows where only sums over rows are available."""


class ProtocolError(DagoraError):
    """A protocol between parties failed: a peer left, broke the rules, or sent an unreadable message.

    `party` is the peer at fault, where there is one. `consequence` ends the line with what the failure means
    for whoever reads it here; peers are told the line without it.
    """

    def __init__(self, message: str, *, party: str | None = None) -> None:
        super().__init__(message)
        self.party = party
        self.consequence = ""

    @property
    def message(self) -> str:
        """The text without the consequence."""
        return super().render()

    def render(self, words: Words | None = None) -> str:
        """The text in the words of a door, with the consequence."""
        return super().render(words) + self.consequence


class PartyTimeoutError(ProtocolError):
    """A peer did not answer in time; nothing is lost, and the caller may wait again."""


class DisagreementError(ProtocolError):
    """The parties' data do not fit together; the message names columns, never values."""


for _error in [each for each in globals().values() if isinstance(each, type) and issubclass(each, Exception)]:
    _error.__module__ = "dagora"  # where users import it from: tracebacks and pickles name no room
del _error
