"""JSON and TOML that come from outside: whatever is wrong with the text is one line.

Besides syntax errors, Python refuses numbers of thousands of digits and nesting of thousands of levels, each
with an error of another kind.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dagora.base.errors import DagoraError, FormatError

# Python's reader takes the square of the parts of a key. A pattern matches whatever follows its first sign.
MOST_DOTS = 16
NO_KEYS = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*(?:"{3,5}|\Z)|'{3}(?:[^']|'(?!''))*(?:'{3,5}|\Z)'''
    r"""|"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|\#[^\n]*""",
    re.DOTALL,
)
OTHER_SIGNS = re.compile(r"[^\w.\- \t]+")


def parse_json(
    text: str | bytes,
    *,
    error: type[DagoraError] = FormatError,
    parse_constant: Callable[[str], Any] | None = None,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:  # noqa: ANN401
    """The content of JSON text; the hooks are those of `json.loads`.

    >>> parse_json('{"a": [1, null]}')
    {'a': [1, None]}
    >>> parse_json('{"a":')
    Traceback (most recent call last):
    dagora.FormatError: line 1: is not JSON: expecting value
    >>> parse_json("[" * 200_000)
    Traceback (most recent call last):
    dagora.FormatError: is not JSON that can be read: it is nested too deeply
    """
    with _one_line("JSON", error):
        try:
            return json.loads(text, parse_constant=parse_constant, object_pairs_hook=object_pairs_hook)
        except json.JSONDecodeError as problem:
            raise error(f"line {problem.lineno}: is not JSON: {problem.msg.lower()}") from None


def parse_toml(text: str, *, error: type[DagoraError] = FormatError) -> dict[str, Any]:
    """The content of TOML text.

    >>> parse_toml("a = [1, 2]")
    {'a': [1, 2]}
    >>> parse_toml("a = " + "9" * 5000)
    Traceback (most recent call last):
    dagora.FormatError: is not TOML that can be read: a number has too many digits
    """
    with _one_line("TOML", error):
        # Strings and comments aside, what lies between other signs are keys with dots, and numbers.
        bare = NO_KEYS.sub("s", text)
        if any(words.count(".") > MOST_DOTS for words in OTHER_SIGNS.split(bare)):
            raise error(f"is not TOML that can be read: a key has more than {MOST_DOTS} dots")
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            raise error(f"is not TOML: {' '.join(str(problem).split())}") from None


@contextmanager
def _one_line(language: str, error: type[DagoraError]) -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise error(f"is not {language} that can be read: it is nested too deeply") from None
    except UnicodeDecodeError:
        raise error(f"is not {language} that can be read: it is not UTF-8 text") from None
    except ValueError as problem:
        line = " ".join(str(problem).split())
        digits = line.startswith("Exceeds the limit")
        raise error(
            f"is not {language} that can be read: {'a number has too many digits' if digits else line}"
        ) from None
