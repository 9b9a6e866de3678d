"""The words of messages: options are mentioned neutrally, and each door writes them as its users do.

The same message may answer a call in Python (`missing="drop"`), a command (`--missing drop`), or a user of
the live page, who sees neither. `option`, `setting`, `col` and `by_door` therefore return a mention: its
parts between private-use characters, which stay within a sentence as it is put together. `render` writes
them in the `Words` of the door at work. Errors are rendered when they are shown, results and overviews when
they are made. Doors alone choose the words (`speaking` in base/errors.py); only `render` reads that choice.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace

from dagora.base.phrases import comma_list

# Options that name columns: their value on the command line is a list with commas. A test compares them with
# the declared ones (data/columns/reading_options.py), which stand above this room.
LISTS = frozenset({"discrete", "continuous", "drop", "ordinal", "ranks", "within_groups", "join"})
BEGIN, NEXT, END = "\ue000", "\ue001", "\ue002"  # around and between the parts of a mention
MENTION = re.compile(f"{BEGIN}([^{BEGIN}{END}]*){END}")  # one without another inside

WriteOption = Callable[[str, str | None, str], str]
"""Writes an option by its name, its value (None: no value) and the value as Python writes it."""


def python_option(name: str, value: str | None, literal: str) -> str:
    """An option as in a call in Python."""
    if value is None:
        return name
    return f"{name}=[{literal}]" if name in LISTS else f"{name}={literal}"


def flag(name: str, value: str | None, _literal: str) -> str:
    """An option as on a command line."""
    written = f"--{name.replace('_', '-')}"
    if value is None:
        return written
    return f"{written} {shlex.quote(comma_list([value]) if name in LISTS else value)}"


def method_flag(name: str, value: str | None, _literal: str) -> str:
    """An option of a method or score as on a command line."""
    return f"--option {name}" + ("" if value is None else f"={value}")


@dataclass(frozen=True)
class Words:
    """The notation of options, and of options of methods and scores, in Python, the command or the page."""

    option: WriteOption
    setting: WriteOption
    of_python: bool = False

    def lacking(self, name: str, instead: str) -> Words:
        """The words of a door that lacks an option: something else stands in its place.

        >>> render(f"leave it out ({option('drop', 'age')})", COMMAND.lacking("drop", "in the file"))
        'leave it out (in the file)'
        """
        return replace(
            self, option=lambda each, *value: instead if each == name else self.option(each, *value)
        )


PYTHON = Words(python_option, python_option, of_python=True)
COMMAND = Words(flag, method_flag)
chosen_words: ContextVar[Words] = ContextVar("chosen_words", default=PYTHON)


def mention(kind: str, *parts: str) -> str:
    """A mention of some kind, for `render`."""
    return BEGIN + NEXT.join((kind, *parts)) + END


def literal(value: object) -> str:
    r"""A value as Python writes it in a message.

    >>> print(literal("age:-1"), literal('"x, y:-99"'), literal("a\\b"), literal(0.5))
    "age:-1" '"x, y:-99"' 'a\\b' 0.5
    """
    if not isinstance(value, str):
        return f"{value}"
    return f'"{value}"' if value.isprintable() and not {'"', "\\"} & {*value} else repr(value)


def without_marks(name: str, value: object) -> list[str]:
    """A name and a value as parts of a mention: marks in them, which may be the user's, are replaced."""
    parts = [name] if value is None else [name, str(value), literal(value)]
    return [re.sub(f"[{BEGIN}{NEXT}{END}]", "\ufffd", part) for part in parts]


def option(name: str, value: object = None) -> str:
    """Mention an option, with a value if there is one to choose.

    >>> render(f"{option('missing', 'drop')} {option('max_parents', 3)} {option('drop', 'a, b')}")
    'missing="drop" max_parents=3 drop=["a, b"]'
    >>> print(render(f"{option('missing', 'drop')} {option('drop', 'a, b')} {option('score')}", COMMAND))
    --missing drop --drop '"a, b"' --score
    """
    return mention("option", *without_marks(name, value))


def setting(name: str, value: object = None) -> str:
    """Mention an option of a method or score, with a value if there is one to choose.

    >>> render(setting("ess", 10)), render(setting("ess", 10), COMMAND)
    ('ess=10', '--option ess=10')
    """
    return mention("setting", *without_marks(name, value))


def col(name: str) -> str:
    """Mention a column.

    >>> render(f"{col('age')} is constant")
    "column 'age' is constant"
    """
    return mention("column", *without_marks(name, None))


def by_door(*, python: str, command: str) -> str:
    """Two ways to say the same: to users of Python, and of the command or a page.

    >>> render(by_door(python="learn_federated", command="`dagora federate`"))
    'learn_federated'
    """
    return mention("door", python, command)


def render(text: str, words: Words | None = None) -> str:
    """Write the mentions of a text in the words of a door: by default, of the one at work."""
    if BEGIN not in text:
        return text
    words = words or chosen_words.get()

    def write(found: re.Match[str]) -> str:
        match found.group(1).split(NEXT):
            case ["option", name]:
                return words.option(name, None, "")
            case ["option", name, value, literal]:
                return words.option(name, value, literal)
            case ["setting", name]:
                return words.setting(name, None, "")
            case ["setting", name, value, literal]:
                return words.setting(name, value, literal)
            case ["column", name]:
                return f"column '{name}'"
            case ["door", python, command]:
                return python if words.of_python else command
        return found.group()  # a text of the user's that looks alike

    while (after := MENTION.sub(write, text)) != text:  # from the inside out
        text = after
    return text


def bare_names(text: str) -> str:
    """A text that mentions options by their names alone, as where they are keys of a file.

    >>> bare_names(f"{option('max_parents')} must be positive")
    'max_parents must be positive'
    """
    return re.sub(f"{BEGIN}option{NEXT}([^{NEXT}{END}]*)[^{END}]*{END}", r"\1", text)


def mentions(text: str, *kinds: str) -> list[tuple[str, str | None]]:
    """The names of some kinds that a text mentions, with their values.

    >>> mentions(f"choose {option('missing', 'drop')}, or leave {option('score')} out", "option")
    [('missing', 'drop'), ('score', None)]
    """
    found = (mentioned.split(NEXT) for mentioned in MENTION.findall(text))
    return [(parts[1], parts[2] if parts[2:] else None) for parts in found if parts[0] in kinds]


def render_fields(record: object, *names: str) -> None:
    """Render fields of a frozen record when it is made: texts, or tuples of texts."""
    for name in names:
        value = getattr(record, name)
        object.__setattr__(
            record, name, render(value) if isinstance(value, str) else tuple(map(render, value))
        )
