"""Tests of whether a family of a graph is the same in two periods.

Tables: G² between the periods within each configuration of the parents that both have seen,
2 Σ n ln(n / expected), with one degree of freedom less than levels. Levels of which less than one row is
expected in a period are counted together, and each G² is divided by Williams' (1976) factor for few rows, so
that the sum keeps its distribution.

Regressions: the likelihood ratio of one regression with its variance for each period against one for both, N
ln RSS/N − Σ n ln RSS/n, with p + 2 degrees of freedom for p parents; multiplied by 1 − (p + 3) / m with m the
rows of the smaller period, as small samples make it too large.

Families of both kinds of columns: `mixed_changes`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.wording import col
from dagora.data.schema import Kind
from dagora.graph.dag import DAG
from dagora.posterior.criticism.mixed_changes import compare_mixed, joined_levels
from dagora.posterior.criticism.period_test import EXACT, PeriodTest, largest_change, too_few
from dagora.stats.moments import merge_moments
from dagora.stats.statistics import Moments, Statistics

# Fewest rows that are expected of a level in a period before it is counted by itself.
LEAST_EXPECTED = 1.0


def compare_family(graph: DAG, node: str, before: Statistics, now: Statistics) -> PeriodTest | str:
    """The test of a family, or the reason why there is none."""
    family = (*graph.parents(node), node)
    kinds = []
    for name in family:
        one, other = (each.schema[each.schema.index(name)] for each in (before, now))
        if one.kind is not other.kind:
            raise DataError(f"{col(name)} is {one.kind} in the old data and {other.kind} in the new")
        kinds.append(one.kind)
    if set(kinds) == {Kind.DISCRETE}:
        return compare_tables(family, before, now)
    if set(kinds) == {Kind.CONTINUOUS}:
        return compare_regressions(family, before, now)
    return compare_mixed(family, before, now)


def compare_tables(family: Sequence[str], before: Statistics, now: Statistics) -> PeriodTest:
    """G² of a child between two periods, within the configurations of its parents."""
    schemas = (before.schema, now.schema)
    levels = [joined_levels(name, schemas) for name in family]
    cells, counts = [], []
    for period, statistics in enumerate((before, now)):
        schema = statistics.schema
        found = statistics.contingency([schema.index(name) for name in family])
        codes = np.stack(
            [
                np.array([known.index(level) for level in schema[schema.index(name)].levels])[
                    found.cells[:, place]
                ]
                for place, (name, known) in enumerate(zip(family, levels, strict=True))
            ],
            axis=1,
        )
        cells.append(np.column_stack([codes, np.full(len(codes), period)]))
        counts.append(found.counts)
    every, number = np.concatenate(cells), np.concatenate(counts).astype(np.float64)
    _, configuration = np.unique(every[:, :-2], axis=0, return_inverse=True)
    configuration = configuration.reshape(-1)
    statistic, df = 0.0, 0
    largest, most = "", 0.0
    order = np.argsort(configuration, kind="stable")
    bounds = np.searchsorted(configuration[order], np.arange(configuration.max(initial=-1) + 2))
    for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        own = order[a:b]
        table = np.zeros((len(levels[-1]), 2))
        np.add.at(table, (every[own, -2], every[own, -1]), number[own])
        rows = table.sum(axis=0)
        if not rows.all():
            continue
        merged = merge_rare(table)
        expected = np.outer(merged.sum(axis=1), rows) / rows.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(merged > 0, merged * np.log(merged / expected), 0.0)
        statistic += 2 * float(terms.sum()) / williams(merged)
        df += len(merged) - 1
        shares = table / rows
        gaps = np.abs(shares[:, 1] - shares[:, 0]) * np.sqrt(rows.prod() / rows.sum())
        if len(merged) > 1 and gaps.max() > most:
            most = float(gaps.max())
            level = int(gaps.argmax())
            given = [
                f"{name}={known[code]}"
                for name, known, code in zip(family, levels, every[own[0], :-2].tolist(), strict=False)
            ]
            inside = f"{family[-1]}={levels[-1][level]}" + (f" | {', '.join(given)}" if given else "")
            largest = f"P({inside}) {shares[level, 0]:.3g} before, {shares[level, 1]:.3g} now"
    return PeriodTest(max(0.0, statistic), df, largest)


def merge_rare(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts of levels (rows) in two periods, where levels of too few expected rows are counted together.

    >>> merge_rare(np.array([[50.0, 40.0], [2.0, 0.0], [0.0, 2.0], [0.0, 0.0]])).tolist()
    [[50.0, 40.0], [2.0, 2.0]]
    """
    table = table[table.any(axis=1)]
    share = table.sum(axis=0).min() / table.sum()
    rare = table.sum(axis=1) * share < LEAST_EXPECTED
    if not rare.any():
        return table
    merged = np.vstack([table[~rare], table[rare].sum(axis=0)])
    if merged[-1].sum() * share < LEAST_EXPECTED and len(merged) > 1:
        least = int(merged[:-1].sum(axis=1).argmin())
        merged[least] += merged[-1]
        merged = merged[:-1]
    return merged


def williams(table: NDArray[np.float64]) -> float:
    """The factor by which few rows make G² of a table of levels and two periods too large.

    >>> round(williams(np.array([[30.0, 20.0], [10.0, 40.0]])), 4)
    1.0158
    """
    total, levels = float(table.sum()), len(table)
    if levels < 2:
        return 1.0
    of_levels = total * float((1 / table.sum(axis=1)).sum()) - 1
    of_periods = total * float((1 / table.sum(axis=0)).sum()) - 1
    return 1 + of_levels * of_periods / (6 * total * (levels - 1))


def compare_regressions(family: Sequence[str], before: Statistics, now: Statistics) -> PeriodTest | str:
    """The likelihood ratio of a regression for each period against one for both."""
    one, other = (moments_of(statistics, family) for statistics in (before, now))
    parents = len(family) - 1
    smaller = min(one.n, other.n)
    if refusal := too_few(smaller, parents):
        return refusal
    both = merge_moments(one, other)
    fits = [regression(each) for each in (one, other, both)]
    if any(fit is None for fit in fits):
        return "parents that repeat each other, or no spread"
    (slopes_1, rss_1), (slopes_2, rss_2), (_, rss) = (fit for fit in fits if fit is not None)
    ratio = both.n * np.log(rss / both.n) - one.n * np.log(rss_1 / one.n) - other.n * np.log(rss_2 / other.n)
    scaled = float(ratio) * (1 - (parents + 3) / smaller)
    largest = largest_change(family, (one, other), (slopes_1, slopes_2), (rss_1, rss_2))
    return PeriodTest(max(0.0, scaled), parents + 2, largest)


def moments_of(statistics: Statistics, family: Sequence[str]) -> Moments:
    """Moments of a family's columns."""
    schema = statistics.schema
    numbers = [variable.name for variable in schema if variable.kind is Kind.CONTINUOUS]
    places = [numbers.index(name) for name in family]
    found = statistics.moments()
    return Moments(found.n, found.mean[places], found.scatter[np.ix_(places, places)])


def regression(moments: Moments) -> tuple[NDArray[np.float64], float] | None:
    """Slopes of the last column on the others, and the squares left; None where that is not defined."""
    scatter = moments.scatter
    spreads = np.diagonal(scatter)
    if not (spreads > 0).all():
        return None
    scale = np.sqrt(spreads)
    correlations = scatter / np.outer(scale, scale)
    own = correlations[:-1, :-1]
    if len(own) and np.linalg.eigvalsh(own)[0] < EXACT:
        return None
    slopes = np.linalg.solve(own, correlations[:-1, -1]) if len(own) else np.zeros(0)
    left = 1 - float(correlations[:-1, -1] @ slopes)
    if left < EXACT:
        return None
    return slopes * scale[-1] / scale[:-1], left * float(spreads[-1])
