"""Pieces of SQL around a query of the user's own: names, its rows as a table, and cells as other types."""

from __future__ import annotations

# What `cells.null_missing` trims off text; SQL's own trim knows blanks only.
WHITE_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001))))


def quote(name: str) -> str:
    """A name as SQL takes it literally.

    >>> print(quote('an "odd" name'))
    "an ""odd"" name"
    """
    return '"' + name.replace('"', '""') + '"'


def relation(query: str, where: str = "") -> str:
    """The rows of a query, or those for which a condition holds; the query may end in a comment."""
    return f"({query}\n) AS dagora_rows{where}"


def as_double(name: str, *, text: bool = False) -> str:
    """A column as floating-point numbers; of `text`, without margins."""
    return f"CAST({trim(name) if text else quote(name)} AS DOUBLE PRECISION)"


def as_text(name: str) -> str:
    """A column as text."""
    return f"CAST({quote(name)} AS VARCHAR)"


def trim(name: str) -> str:
    """A column of text without margins."""
    return f"trim({as_text(name)}, {literal(WHITE_SPACE)})"


def literal(text: str) -> str:
    """A text as SQL takes it literally.

    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"
