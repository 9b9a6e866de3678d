"""The owner's policy and the consortium's codebook as TOML files, which people read and change."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from math import prod
from pathlib import Path
from typing import Any

from dagora.errors import FormatError
from dagora.files import naming, read_text
from dagora.parties.horizontal.plan.codebook import Codebook, Coding
from dagora.parties.horizontal.plan.drafting import CELLS_PER_TABLE, COLUMNS_PER_TABLE
from dagora.parties.horizontal.plan.plan import (
    COUNTS,
    LARGEST_ROWS,
    MOMENTS,
    MOST_CELLS,
    MOST_ROWS,
    QUESTIONS,
    RELEASE,
    read_fingerprint,
    read_sites,
    whole_number,
    worst_case,
)
from dagora.parties.horizontal.policy.policy import ANY, Policy
from dagora.parties.transport.transport import one_line
from dagora.wording import among

POLICY_NAME, CODEBOOK_NAME = "policy.toml", "codebook.toml"
KEYS = tuple(entry.name for entry in fields(Policy) if entry.name not in {"codebook", "place", "lines"})
ROWS_PER_CELL, FEWEST_ROWS_PER_CELL = 10, 3
REQUIRED = ("coordinator", "sites", "column")


@dataclass(frozen=True)
class Consortium:
    """What the coordinator's codebook file holds: the columns and, where known, the sites' certificates."""

    codebook: Codebook
    sites: Mapping[str, str]
    largest_rows: int
    columns_per_table: int
    cells_per_table: int


def read_codebook(path: Path) -> Consortium:
    """Read a codebook file; a policy file will do as well."""
    content, _ = _read_toml(path)
    with naming(path):
        unknown = set(content) - {"column", *KEYS}
        if unknown:
            raise FormatError(f"there is no '{min(unknown)}' in a codebook: {among(('sites', 'column'))}")
        sites = read_sites(content["sites"]) if content.get("sites") else {}
        rows = _largest_rows("largest_rows", content.get("largest_rows", LARGEST_ROWS))
        columns = _value("columns_per_table", content.get("columns_per_table", COLUMNS_PER_TABLE))
        cells = _value("cells_per_table", content.get("cells_per_table", CELLS_PER_TABLE))
        return Consortium(Codebook.from_list(content.get("column")), sites, rows, columns, cells)


def read_policy(path: Path, methods: Collection[str]) -> Policy:
    """Read an owner's policy; a mistake gets one line with its place. `methods` are those that there are."""
    content, lines = _read_toml(path)
    place = str(path)

    def at(key: str) -> str:
        return f"{place}, line {lines[key]}" if key in lines else place

    for key in content:
        if key not in (*KEYS, "column"):
            raise FormatError(f"{at(key)}: there is no '{key}' in a policy: {among((*KEYS, 'column'))}")
    for key in REQUIRED:
        if key not in content:
            raise FormatError(f"{place}: a policy needs '{key}'")
    try:
        values = {key: _value(key, content[key]) for key in KEYS if key in content}
        for key in ("methods", "shows"):
            _check_methods(key, values.get(key, ()), methods)
        codebook = Codebook.from_list(content["column"])
    except _BadValueError as problem:
        raise FormatError(f"{at(problem.key)}: {problem}") from None
    except FormatError as problem:
        raise FormatError(f"{at('column')}: {problem}") from None
    return Policy(codebook=codebook, place=place, lines=lines, **values)


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


def _questions(key: str, value: object) -> tuple[str, ...]:
    words = _words(key, value)
    for word in words:
        if word not in QUESTIONS:
            raise FormatError(f"there are no questions of the kind '{word}': {among(QUESTIONS)}")
    return words


def _number(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e18:
        raise FormatError(f"{key} must be a number, 0 or more")
    return float(value)


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
    "largest_rows": _largest_rows,
    "least_sites": lambda key, value: whole_number(key, value, 2, 1000),
    "columns_per_table": lambda key, value: whole_number(key, value, 0, 64),
    "cells_per_table": lambda key, value: whole_number(key, value, 1, MOST_CELLS),
    "tables_per_run": lambda key, value: whole_number(key, value, 0, 1 << 62),
    "tables_for_ever": lambda key, value: whole_number(key, value, 0, 1 << 62),
    "noise": _yes_or_no,
    "rho_for_ever": _number,
    "colluders": lambda key, value: whole_number(key, value, 0, 1000),
    "rows_per_person": lambda key, value: whole_number(key, value, 1, 10_000),
    "agreed_rosters": _words,
}

_KEY = re.compile(r"^\s*(?:\[\[?\s*)?\"?([A-Za-z_]+)\"?\s*(?:=|\])")


def _read_toml(path: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """The content of a TOML file, and the first line of every key and table."""
    text = read_text(path)
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise FormatError(f"{path}: {problem}") from None
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if found := _KEY.match(line):
            lines.setdefault(found[1], number)
    return content, lines


_ROWS_TEXT = """\
# The most rows that all sites have together: the fewer, the finer continuous values are rounded. All sites
# and the coordinator need the same number."""


def write_codebook(policy: Policy) -> str:
    """The text of the codebook file of a consortium whose sites have this policy."""
    sites = policy.sites
    listed = _sites_text(sites, "The sites, by the fingerprints of their certificates.") if sites else ""
    return f"""\
# What the sites of a consortium have agreed on.

{_ROWS_TEXT}
largest_rows = {policy.largest_rows}

# Tables of counts: the most columns and cells of each, no more than the sites' policies allow.
columns_per_table = {policy.columns_per_table}
cells_per_table = {policy.cells_per_table}

{listed}{_columns_text(policy.codebook)}"""


def draft_policy(
    codebook: Codebook, coordinator: str, sites: Mapping[str, str], *, least_sites: int, rows: int
) -> Policy:
    """A policy with the usual limits, where all sites together have about so many rows."""
    discrete = sum(not coding.continuous for coding in codebook)
    kinds = ([COUNTS] if discrete else []) + ([MOMENTS] if discrete < len(codebook.columns) else [])
    columns, cells = drafted_limits([len(v.levels) for v in codebook.schema if v.levels], rows)
    tables = worst_case(discrete, columns) + 1 + (len(codebook.columns) > discrete)
    return Policy(
        coordinator=coordinator,
        sites=sites,
        codebook=codebook,
        questions=(*kinds, RELEASE),
        colluders=len(sites) // 3,
        least_sites=least_sites,
        columns_per_table=columns,
        cells_per_table=cells,
        tables_per_run=tables,
        tables_for_ever=10 * tables,
    )


def drafted_limits(levels: Sequence[int], rows: int) -> tuple[int, int]:
    """Columns and cells of a table: ten rows for each cell, or three where that allows one column more.

    The number of cells is a power of two, since the coordinator can find it out.

    >>> drafted_limits([2, 2, 2], 1000), drafted_limits([3, 3, 3], 200), drafted_limits([9, 9, 9], 200)
    ((3, 64), (3, 32), (2, 128))
    """
    largest = sorted(levels, reverse=True)
    three = prod(largest[:COLUMNS_PER_TABLE])
    columns = COLUMNS_PER_TABLE if three * FEWEST_ROWS_PER_CELL <= rows else 2
    usual = 1 << max(1, (rows // ROWS_PER_CELL).bit_length() - 1)
    needed = 1 << (prod(largest[:columns]) - 1).bit_length()
    return columns, min(CELLS_PER_TABLE, max(usual, needed))


def write_policy(policy: Policy, drafted_from: str) -> str:
    """The text of a policy, with a comment for each of its lines."""
    return f"""\
# What this site may be asked. Whatever is not allowed here is refused.
# Drafted from {one_line(drafted_from)}: read every line before you use it.
# `dagora federate policy check` reads it back; `dagora federate log` prints what was answered.

# The coordinator, by the fingerprint of its certificate
# (openssl x509 -in party.pem -noout -fingerprint -sha256).
coordinator = {_quoted(policy.coordinator)}

# What the sums are used for is the coordinator's word; these are the methods that it may name.
methods = {_listed(policy.methods)}

# Kinds of sums: "counts" of joint tables, "moments" (means and covariances), "basis" (moments of functions),
# "release" (pairs of columns or moments, once, with noise).
questions = {_listed(policy.questions)}

# Methods that show the coordinator what this site alone has: "vote", "average", "best" (the weights learned
# from its rows), "admm", "admm-mlp" (as much as the covariance of its rows). None, unless they stand here.
shows = {_listed(policy.shows)}

# All sites below take part, or nobody answers. A smaller number allows runs with fewer of them. The others
# and the coordinator together can always compute what this site has.
least_sites = {policy.least_sites or len(policy.sites)}

{_ROWS_TEXT}
largest_rows = {policy.largest_rows}

# Tables of counts: columns and cells of each. A site never sees the sum and cannot hide small counts in it:
# these limits, and noise, are the only means. Ten rows of all sites together for each cell is a usual rule.
columns_per_table = {policy.columns_per_table}
cells_per_table = {policy.cells_per_table}

# Different sums in one run, and for ever (counted in the log beside this file).
tables_per_run = {policy.tables_per_run}
tables_for_ever = {policy.tables_for_ever}

# Releases with noise (differential privacy): the most of rho that they may spend for ever, how many sites may
# work together without weakening the noise, and the most rows that one person has. With noise = true, nothing
# without noise is answered.
noise = {str(policy.noise).lower()}
rho_for_ever = {policy.rho_for_ever:g}
colluders = {policy.colluders}
rows_per_person = {policy.rows_per_person}

# Other sets of sites that you accept although these rows were summed with different sites before.
agreed_rosters = {_listed(policy.agreed_rosters)}

{_sites_text(policy.sites, "The sites, this one too, by the fingerprints of their certificates.")}\
{_columns_text(policy.codebook)}"""


def _listed(words: tuple[str, ...]) -> str:
    return json.dumps(list(words), ensure_ascii=False)


def _sites_text(sites: Mapping[str, str], comment: str) -> str:
    listed = "".join(f"{_key(name)} = {_quoted(fingerprint)}\n" for name, fingerprint in sites.items())
    return f"# {comment}\n[sites]\n{listed}\n"


def _columns_text(codebook: Codebook) -> str:
    note = """\
# The columns and how they are written; every site needs the same. A continuous column has a range: values
# outside are moved to its ends, and a site with more than 1 % of them refuses. Levels that are not listed are
# refused, unless other = true makes them the level "other". Ranges and levels are seen by all parties: write
# what is known in public, not what only your rows show.
"""
    return note + "\n".join(map(_column_text, codebook))


def _column_text(coding: Coding) -> str:
    lines = ["[[column]]"]
    for key, value in coding.to_dict().items():
        lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)
