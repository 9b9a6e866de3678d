"""The questions to a process that parses files: who answers each, and what an answer holds.

The process may be damaged by what it parses, so that its answers are checked as those of a stranger.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    Question = dict[str, Any]
    Rows = tuple[pa.Schema, Iterator[pa.RecordBatch]]
    Answer = tuple[dict[str, Any], Rows | None]
    Test = Callable[[object], bool]

PATIENCE = 10.0  # seconds that a process without a question is kept
ERROR = b"error"  # the key under which a stream that breaks off says why


def is_text(value: object) -> bool:
    """Return True for a text."""
    return isinstance(value, str)


def is_texts(value: object) -> bool:
    """Return True for a list of texts."""
    return isinstance(value, list) and all(map(is_text, value))


def is_number(value: object) -> bool:
    """Return True for a whole number that is not negative."""
    return type(value) is int and value >= 0


@dataclass(frozen=True)
class FileQuestion:
    """A question: what answers it, the fields of the answer, and whether rows follow."""

    module: str
    function: str
    fields: dict[str, Test] = field(default_factory=dict)
    rows_follow: bool = True

    def load(self) -> Callable[[Question], Answer]:
        """The function that answers it; its module is imported only in the process that parses."""
        found: Callable[[Question], Answer] = getattr(
            import_module(f"dagora.data.{self.module}"), self.function
        )
        return found

    def holds(self, answer: object) -> bool:
        """Return True if an answer, or an error, has the fields that it must have."""
        if not isinstance(answer, dict):
            return False
        if "error" in answer:
            return is_text(answer["error"]) and is_text(answer.get("text"))
        listed = all(name in answer and test(answer[name]) for name, test in self.fields.items())
        return listed and answer.get("rows_follow") is self.rows_follow


SIZES: dict[str, Test] = {
    "schema": is_text,
    "rows": lambda value: value is None or is_number(value),
    "cells": is_number,
    "bytes": is_number,
    "largest": is_number,
}
TABLE: dict[str, Test] = {
    "names": is_texts,
    "text_cells": lambda value: isinstance(value, bool),
    "words_nulled": lambda value: isinstance(value, bool),
    "notes": is_texts,
    "nominal": is_texts,
}
QUESTIONS = {
    "describe": FileQuestion("arrow_parser", "answer_description", SIZES, rows_follow=False),
    "note": FileQuestion("arrow_parser", "answer_note", {"note": is_text}, rows_follow=False),
    "batches": FileQuestion("arrow_parser", "answer_batches"),
    "table": FileQuestion("program_parser", "answer_table", TABLE),
    "query": FileQuestion("scan.duckdb_parser", "answer_query"),
    "statements": FileQuestion(
        "scan.duckdb_parser", "answer_statements", {"number": is_number}, rows_follow=False
    ),
    "sqlite_query": FileQuestion("scan.sqlite_parser", "answer_query"),
    "sqlite_tables": FileQuestion(
        "scan.sqlite_parser", "answer_tables", {"tables": is_texts}, rows_follow=False
    ),
}
