"""Columns that others determine: tests of independence given those lose edges, and a warning says so.

Given its causes such a column tells nothing more, and given the column its causes tell less: variables look
independent that are not (the faithfulness that these methods rest on is broken).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dagora.base.phrases import some_of
from dagora.data.schema import Kind
from dagora.learners.method import Method
from dagora.learners.source import Source
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import CellCounts, Statistics

SEEN_EACH = 5  # rows for each cell of the columns that determine another, on average, and of its second level
MOST_COLUMNS = 200  # that are looked at
MOST_TRIPLES = 20_000  # of columns that are counted
SINGULAR = 1e-10  # eigenvalue of a correlation matrix


def determined_warnings(method: Method, source: Source) -> Iterator[str]:
    """A sentence where a method that tests independence is given columns that others determine."""
    if not method.by_tests or not source.in_memory or isinstance(source.rows, IncompleteStatistics):
        return
    rows = source.statistics
    names = rows.schema.names
    if len(names) < 3:
        return  # nothing is conditioned on
    found = [
        f"'{names[child]}' by {' and '.join(repr(names[i]) for i in given)}"
        for child, given in find_determined(rows)
    ]
    if found:
        yield (
            f"columns that others determine ({some_of(found, between='; ')}): {method.name} loses "
            "edges at them; leave them out, or take a method that searches on a score, such as auto"
        )


def find_determined(rows: Statistics) -> list[tuple[int, tuple[int, ...]]]:
    """Columns with the one or two others that determine them, and linear combinations of all others.

    >>> from dagora.stats.accepting import as_statistics
    >>> a, b = [0, 0, 1, 1] * 9, [0, 1, 0, 1] * 9
    >>> find_determined(as_statistics({"a": a, "b": b, "or": [int(x or y) for x, y in zip(a, b)]}))
    [(2, (0, 1))]
    """
    return [*determined_levels(rows), *dependent_numbers(rows)]


def determined_levels(rows: Statistics) -> list[tuple[int, tuple[int, ...]]]:
    """Discrete columns that one other determines, or else two others together."""
    columns = [i for i, variable in enumerate(rows.schema) if variable.kind is Kind.DISCRETE][:MOST_COLUMNS]
    if len(columns) < 2:
        return []
    single = rows.counts([(i,) for i in columns])
    levels = dict(zip(columns, np.diff(single.offsets).tolist(), strict=True))
    varied = {
        i for i, cells in zip(columns, parts(single), strict=True) if np.sort(cells)[:-1].sum() >= SEEN_EACH
    }
    pairs = list(combinations(columns, 2))
    joint = rows.counts(pairs)
    size = dict(zip(pairs, np.diff(joint.offsets).tolist(), strict=True))
    tie = dict(zip(pairs, (information(cells) for cells in parts(joint)), strict=True))
    alone = dict(zip(columns, (information(cells) for cells in parts(single)), strict=True))
    found: list[tuple[int, tuple[int, ...]]] = []
    asked: list[tuple[int, int, int]] = []
    few = max(2, int(np.sqrt(2 * MOST_TRIPLES / len(columns))))
    for child in columns:
        if child not in varied:
            continue
        others = [i for i in columns if i != child and i in varied]
        by_one = [i for i in others if size[min(i, child), max(i, child)] == levels[i]]
        enough = [i for i in by_one if rows.n_rows >= SEEN_EACH * levels[i]]
        if enough:
            found.append((child, (enough[0],)))
            continue
        # The closest ones.
        others.sort(key=lambda i: alone[i] - tie[min(i, child), max(i, child)])
        asked += [(*sorted(pair), child) for pair in combinations(others[:few], 2)]  # type: ignore[misc]
    triples = rows.counts([tuple(sorted(triple)) for triple in asked]) if asked else None
    settled = {child for child, _ in found}
    for (first, second, child), cells in zip(asked, np.diff(triples.offsets) if triples else (), strict=True):
        together = size[first, second]
        if child not in settled and cells == together and rows.n_rows >= SEEN_EACH * together:
            settled.add(child)
            found.append((child, (first, second)))
    return found


def parts(counts: CellCounts) -> Iterator[NDArray[np.int64]]:
    """The counts of each set."""
    for begin, end in zip(counts.offsets[:-1], counts.offsets[1:], strict=True):
        yield counts.values[begin:end]


def information(cells: NDArray[np.int64]) -> float:
    """The sum of c·log c: larger for cells that are more alike within sets of columns."""
    return float((cells * np.log(cells)).sum())


def dependent_numbers(rows: Statistics) -> list[tuple[int, tuple[int, ...]]]:
    """The first continuous column that is a linear combination of others."""
    columns = [i for i, variable in enumerate(rows.schema) if variable.kind is Kind.CONTINUOUS]
    if not 2 < len(columns) <= MOST_COLUMNS or rows.n_rows <= 2 * len(columns):
        return []
    covariance = rows.moments().covariance
    sd = np.sqrt(np.diag(covariance))
    if not (sd > 0).all():
        return []
    values, vectors = np.linalg.eigh(covariance / np.outer(sd, sd))
    if values[0] > SINGULAR:
        return []
    part = [columns[i] for i in np.flatnonzero(np.abs(vectors[:, 0]) > 1e-4)]
    return [(part[-1], tuple(part[:-1]))] if len(part) > 1 else []
