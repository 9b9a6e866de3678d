"""The part of a report about the data: how each column was understood, and rows left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dagora.data.columns.missing_pattern import describe_missing
from dagora.report.page import Content, Section, folded, table, text


def data_section(data: Mapping[str, Any]) -> list[Section]:
    """A section about the data, where it is known how they were read."""
    if not data:
        return []
    rows, dropped = data["rows"], data["rows_dropped"]
    lost = f"; {dropped} of them ({dropped / rows:.1%}) dropped, because a cell is missing" if dropped else ""
    head = ("column", "type", "levels or range", "missing", "why")
    listed: list[list[Content]] = [
        [column["name"], column["type"], column["values"], column["missing"], column["why"]]
        for column in data["columns"]
    ]
    body = f"<p>{text(f'{rows} rows{lost}.')}</p>"
    return [Section("The data", body + folded("columns", table(head, listed)) + holes(data.get("holes", {})))]


def holes(pattern: Mapping[str, Any]) -> str:
    """How many cells are missing, and in which patterns."""
    if not pattern:
        return ""
    listed: list[list[Content]] = [[", ".join(each["missing"]), each["rows"]] for each in pattern["patterns"]]
    said = f"{describe_missing(pattern)}; {pattern['distinct_patterns']} patterns of holes."
    return f"<p>{text(said)}</p>" + folded("most frequent patterns", table(("missing", "rows"), listed))
