"""The effect between discrete columns where no one adjustment set gives it: the g-formula.

P(y | do(x)) = Σ Π P(v | parents of v), over the ancestors v of y that are not set, with x at its values.
The tables have their posterior (`strata_posterior`). Those of different nodes are independent, so that the
mean tables give the mean effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.data.designed import DesignedTable
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast, Value, level_code, level_codes
from dagora.effects.effect_rows import EffectRows
from dagora.effects.set_estimate import DRAWS, Interval, SetEstimate, Support, summarise_scales
from dagora.effects.standardise import HEAVY_PRIOR, is_set, refuse_unseen
from dagora.effects.strata_posterior import add_prior, draw_in_blocks, draw_tables, normalise
from dagora.graph.dag import DAG
from dagora.stats.designed import DesignStatistics

Array = NDArray[np.float64]
Families = tuple[tuple[str, tuple[str, ...]], ...]
Factor = tuple[tuple[str, ...], Array]  # names of the axes behind the first, which is that of draws

MOST_CELLS = 100_000
"""Cells of the largest table on the way to an answer."""
NEARLY_ALL = 0.999


def families_towards(dag: DAG, causes: Sequence[str], outcome: str) -> Families:
    """The outcome and its ancestors up to what is set, each with its parents.

    >>> families_towards(DAG("abcd", ["ab", "bc", "ad"]), ["b"], "c")
    (('c', ('b',)),)
    """
    found: dict[str, tuple[str, ...]] = {}
    waiting = [outcome]
    while waiting:
        node = waiting.pop()
        if node not in found and node not in causes:
            found[node] = dag.parents(node)
            waiting += dag.parents(node)
    return tuple((node, found[node]) for node in dag.nodes if node in found)


def effect_by_tables(
    rows: EffectRows, families: Families, contrast: EffectContrast, seed: int = 0
) -> SetEstimate:
    """The effect that tables of these families give."""
    model = TableModel(rows, families, contrast)
    means = model.chances([normalise(one)[None] for one in model.posterior])[:, 0]

    def summary() -> dict[str, Interval]:
        drawn = model.draw(DRAWS, np.random.default_rng(seed))
        return summarise_scales(contrast, contrast.compare(means), drawn)

    refusal = (
        f"{1 - model.share:.0%} of what would happen meets combinations that no row has, so that these rows "
        "do not tell this effect: gather rows with them, or merge levels"
    )
    return SetEstimate(
        summary, model.draw, model.support(), "tables of each column", refusal=refusal if model.wide else ""
    )


class TableModel:
    """Posterior tables of families, and the probabilities of an event that follow where x is set."""

    def __init__(self, rows: EffectRows, families: Families, contrast: EffectContrast) -> None:
        table, sides = rows.table, (contrast.to, contrast.base)
        refuse_unseen(contrast, np.array([count_seen(table, contrast.x, values) for values in sides]))
        self.cells = largest_table(table, families, contrast)
        if self.cells > MOST_CELLS:
            raise OptionError(
                f"the effect of {' and '.join(contrast.x)} on '{contrast.y}' needs a table of "
                f"{self.cells:,} cells: set one of them at a time, or merge levels"
            )
        self.contrast, self.n_rows = contrast, table.n_rows
        self.scopes = [(*parents, child) for child, parents in families]
        self.counts = [count_family(rows, child, parents) for child, parents in families]
        self.posterior = [add_prior(one) for one in self.counts]
        self.levels_set = [level_codes(table.schema, contrast.x, values) for values in sides]
        self.event = level_code(table.schema, contrast.y, contrast.event or "")
        self.seen = [counts.sum(axis=-1, keepdims=True) > 0 for counts in self.counts]
        known = [(normalise(one) * seen)[None] for one, seen in zip(self.posterior, self.seen, strict=True)]
        self.share = min(float(one.sum()) for one in self.outcomes(known))

    @property
    def wide(self) -> bool:
        """True if the prior would say more of what would happen than it may."""
        return 1 - self.share > HEAVY_PRIOR

    def outcomes(self, tables: Sequence[Array]) -> list[Array]:
        """The distribution of y for both values that x is set to, each `[draw, level]`."""
        factors = list(zip(self.scopes, tables, strict=True))
        return [
            sum_out([hold(factor, levels) for factor in factors], self.contrast.y)
            for levels in self.levels_set
        ]

    def chances(self, tables: Sequence[Array]) -> Array:
        """The probability of the event for both values, `[value, draw]`."""
        return np.stack([one[:, self.event] for one in self.outcomes(tables)])

    def draw(self, number: int, rng: np.random.Generator) -> Array:
        """Draw the effect, `[draw, scale]`."""

        def draw(size: int) -> Array:
            drawn = [draw_tables(one, (size, *one.shape), rng) for one in self.posterior]
            if not self.wide:
                return self.chances(drawn)
            known = self.outcomes([one * seen for one, seen in zip(drawn, self.seen, strict=True)])
            return np.stack(  # nothing is known of the rest
                [one[:, self.event] + rng.random(size) * (1 - one.sum(axis=1)) for one in known]
            )

        return self.contrast.compare(draw_in_blocks(draw, number, self.cells))

    def support(self) -> Support:
        """The share of what would happen that meets only combinations of parents that rows have."""
        note = (
            f"extrapolation: {1 - self.share:.0%} of what would happen meets combinations that no row has; "
            f"there {'any chance is as likely' if self.wide else 'the prior answers'}"
        )
        return Support(self.n_rows, self.share, notes=(note,) if self.share < NEARLY_ALL else ())


def count_seen(table: Table, names: Sequence[str], values: Sequence[Value]) -> int:
    """Rows of the rarest of the values that are set: they need not be seen together."""
    return min(int(is_set(table, [name], [value]).sum()) for name, value in zip(names, values, strict=True))


def levels_of(table: Table, names: Sequence[str]) -> tuple[int, ...]:
    """The number of levels of each column."""
    return tuple(table.schema[table.schema.index(name)].cardinality for name in names)


def count_family(rows: EffectRows, child: str, parents: Sequence[str]) -> Array:
    """Count rows, `[parent, …, child]`, by their weights; those in which the child was set do not count."""
    table = rows.table
    names = (*parents, child)
    shape = levels_of(table, names)
    codes = np.ravel_multi_index([table.codes(table.schema.index(name)) for name in names], shape)
    weights = None
    if rows.design is not None:
        weights = DesignStatistics(DesignedTable(table, rows.design).select(names)).weights
    if rows.interventions is not None:
        codes = codes[rows.interventions.unset(child)]
    counts = np.bincount(codes, weights, int(np.prod(shape)))
    return counts.reshape(shape).astype(np.float64)


def hold(factor: Factor, levels: Mapping[str, int]) -> Factor:
    """A factor where some columns have the levels that they are set to."""
    names, values = factor
    place = (slice(None), *(levels.get(name, slice(None)) for name in names))
    return tuple(name for name in names if name not in levels), values[place]


def elimination_order(scopes: Sequence[frozenset[str]], keep: str, levels: Mapping[str, int]) -> list[str]:
    """The order in which columns are summed out: the one with the smallest table next."""
    order = []
    left = list(scopes)
    while others := {name for scope in left for name in scope} - {keep}:
        joined = {name: frozenset().union(*(one for one in left if name in one)) for name in others}
        name = min(sorted(others), key=lambda one: reduce(mul, (levels[other] for other in joined[one]), 1))
        order.append(name)
        left = [one for one in left if name not in one] + [joined[name] - {name}]
    return order


def largest_table(table: Table, families: Families, contrast: EffectContrast) -> int:
    """Cells of the largest table of the sum."""
    names = {name for child, parents in families for name in (child, *parents)}
    levels = dict(zip(names, levels_of(table, list(names)), strict=True))
    left = [frozenset((child, *parents)) - set(contrast.x) for child, parents in families]
    largest = max(reduce(mul, (levels[name] for name in (child, *parents)), 1) for child, parents in families)
    for name in elimination_order(left, contrast.y, levels):
        joined = frozenset().union(*(one for one in left if name in one))
        largest = max(largest, reduce(mul, (levels[other] for other in joined), 1))
        left = [one for one in left if name not in one] + [joined - {name}]
    return largest


def sum_out(factors: Sequence[Factor], keep: str) -> Array:
    """Multiply factors and sum over all columns but one, `[draw, level]`."""
    levels = {name: size for names, one in factors for name, size in zip(names, one.shape[1:], strict=True)}
    left = list(factors)
    for name in elimination_order([frozenset(names) for names, _ in factors], keep, levels):
        involved = [one for one in left if name in one[0]]
        left = [one for one in left if name not in one[0]] + [multiply(involved, name)]
    return multiply(left, None)[1]


def multiply(factors: Sequence[Factor], without: str | None) -> Factor:
    """The product of factors, summed over one column."""
    places: dict[str, int] = {}
    for names, _ in factors:
        for name in names:
            places.setdefault(name, len(places) + 1)
    kept = tuple(name for name in places if name != without)
    operands: list[Any] = []
    for names, values in factors:
        operands += [values, [0, *(places[name] for name in names)]]
    return kept, np.einsum(*operands, [0, *(places[name] for name in kept)])
