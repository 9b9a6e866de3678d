"""Read an owner's policy and the consortium's codebook: TOML files, which people read and change."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from dagora.base.errors import FormatError
from dagora.base.files import naming, read_text
from dagora.base.parsing import parse_toml
from dagora.base.phrases import among
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.plan.drafting import CELLS_PER_TABLE, COLUMNS_PER_TABLE, EFFECT
from dagora.parties.horizontal.plan.plan import (
    LARGEST_ROWS,
    LARGEST_WEIGHT,
    MOST_CELLS,
    MOST_FUNCTIONS,
    MOST_LAGS,
    MOST_ROWS,
    QUESTIONS,
    read_fingerprint,
    read_number,
    read_sites,
    whole_number,
)
from dagora.parties.horizontal.policy.policy import ANY, SitePolicy

POLICY_NAME, CODEBOOK_NAME = "policy.toml", "codebook.toml"
KEYS = tuple(entry.name for entry in fields(SitePolicy) if entry.name not in {"codebook", "place", "lines"})
# A policy must name everything that it allows; only these keys may be left out.
OPTIONAL = (
    "agreed_rosters", "least_sites", "largest_rows", "lags", "step", "shown_for_ever", "releases_for_ever",
)  # fmt: skip
REQUIRED = tuple(key for key in (*KEYS, "column") if key not in OPTIONAL)


@dataclass(frozen=True)
class Consortium:
    """The coordinator's codebook file: the columns and, where known, the sites' certificates."""

    codebook: Codebook
    sites: Mapping[str, str]
    largest_rows: int
    columns_per_table: int
    cells_per_table: int
    step: float = 0.0


def read_codebook(path: Path) -> Consortium:
    """Read a codebook file; a policy file will do as well."""
    content, _ = _read_toml(path)
    with naming(path):
        unknown = set(content) - {"column", LARGEST_WEIGHT, *KEYS}
        if unknown:
            raise FormatError(f"there is no '{min(unknown)}' in a codebook: {among(('sites', 'column'))}")
        sites = read_sites(content["sites"]) if content.get("sites") else {}
        rows = _largest_rows("largest_rows", content.get("largest_rows", LARGEST_ROWS))
        columns = _value("columns_per_table", content.get("columns_per_table", COLUMNS_PER_TABLE))
        cells = _value("cells_per_table", content.get("cells_per_table", CELLS_PER_TABLE))
        step = _value("step", content.get("step", 0.0))
        book = Codebook.from_list(content.get("column"), content.get(LARGEST_WEIGHT, 0.0))
        return Consortium(book, sites, rows, columns, cells, step)


def read_policy(path: Path, methods: Collection[str]) -> SitePolicy:
    """Read an owner's policy; a mistake gets one line with its place. `methods` are those that there are."""
    content, lines = _read_toml(path)
    place = str(path)

    def at(key: str) -> str:
        return f"{place}, line {lines[key]}" if key in lines else place

    for key in content:
        if key not in (known := (*KEYS, LARGEST_WEIGHT, "column")):
            raise FormatError(f"{at(key)}: there is no '{key}' in a policy: {among(known)}")
    for key in REQUIRED:
        if key not in content:
            raise FormatError(f"{place}: a policy needs '{key}'")
    try:
        values = {key: _value(key, content[key]) for key in KEYS if key in content}
        _check_methods("methods", values.get("methods", ()), (*methods, EFFECT))
        _check_methods("shows", values.get("shows", ()), methods)
        codebook = Codebook.from_list(content["column"], content.get(LARGEST_WEIGHT, 0.0))
    except _BadValueError as problem:
        raise FormatError(f"{at(problem.key)}: {problem}") from None
    except FormatError as problem:
        raise FormatError(f"{at('column')}: {problem}") from None
    if values.get("least_sites", 2) > len(values["sites"]):
        raise FormatError(f"{at('least_sites')}: there are only {len(values['sites'])} sites")
    return SitePolicy(codebook=codebook, place=place, lines=lines, **values)


class _BadValueError(FormatError):
    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def _value(key: str, value: object) -> Any:  # noqa: ANN401
    try:
        return _READERS[key](key, value)
    except FormatError as problem:
        raise _BadValueError(key, str(problem)) from None


def _words(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise FormatError(f"{key} must be a list of words in quotation marks")
    return tuple(value)


def _check_methods(key: str, listed: tuple[str, ...], methods: Collection[str]) -> None:
    for word in listed:
        if word != ANY and word not in methods:
            raise _BadValueError(key, f"there is no method '{word}': {among((ANY, *methods))}")


def _rosters(key: str, value: object) -> tuple[str, ...]:
    words = _words(key, value)
    if not all(re.fullmatch("[0-9a-f]{64}", word) for word in words):
        raise FormatError(f"{key} must be names of sets of sites, as the refusal of a plan tells them")
    return words


def _questions(key: str, value: object) -> tuple[str, ...]:
    words = _words(key, value)
    for word in words:
        if word not in QUESTIONS:
            raise FormatError(f"there are no questions of the kind '{word}': {among(QUESTIONS)}")
    return words


def _largest_rows(key: str, value: object) -> int:
    return whole_number(key, value, 1, MOST_ROWS)


def _yes_or_no(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise FormatError(f"{key} must be true or false")
    return value


def _certificate(key: str, value: object) -> str:
    found = read_fingerprint(key, value)
    if not found:
        raise FormatError(f"{key} is empty: give the fingerprint of its certificate")
    return found


def _roster(_key: str, value: object) -> dict[str, str]:
    sites = read_sites(value)
    for name, fingerprint in sites.items():
        if not fingerprint:
            raise FormatError(f"the certificate of '{name}' is empty: give its fingerprint")
    return sites


_READERS = {
    "coordinator": _certificate,
    "sites": _roster,
    "methods": _words,
    "questions": _questions,
    "shows": _words,
    "shown_for_ever": lambda key, value: whole_number(key, value, 0, 1 << 62),
    "largest_rows": _largest_rows,
    "least_sites": lambda key, value: whole_number(key, value, 2, 1000),
    "functions": lambda key, value: whole_number(key, value, 0, MOST_FUNCTIONS),
    "lags": lambda key, value: whole_number(key, value, 0, MOST_LAGS),
    "step": read_number,
    "columns_per_table": lambda key, value: whole_number(key, value, 0, 64),
    "cells_per_table": lambda key, value: whole_number(key, value, 1, MOST_CELLS),
    "tables_per_run": lambda key, value: whole_number(key, value, 0, 1 << 62),
    "tables_for_ever": lambda key, value: whole_number(key, value, 0, 1 << 62),
    "noise": _yes_or_no,
    "rho_for_ever": read_number,
    "releases_for_ever": lambda key, value: whole_number(key, value, 0, 1 << 62),
    "colluders": lambda key, value: whole_number(key, value, 0, 1000),
    "rows_per_person": lambda key, value: whole_number(key, value, 1, 10_000),
    "agreed_rosters": _rosters,
}

_KEY = re.compile(r"^\s*(?:\[\[?\s*)?\"?([A-Za-z_]+)\"?\s*(?:=|\])")


def _read_toml(path: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """The content of a TOML file, and the first line of every key and table."""
    text = read_text(path)
    with naming(path):
        content = parse_toml(text)
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if found := _KEY.match(line):
            lines.setdefault(found[1], number)
    return content, lines
