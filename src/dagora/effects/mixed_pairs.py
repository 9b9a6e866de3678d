"""The effects of all pairs of columns of any kinds, averaged over graphs, adjusted as each graph says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.data.schema import Kind, Variable
from dagora.data.table import Table
from dagora.effects.all_pairs import AllEffects, cause_probabilities
from dagora.effects.averaged import EffectDraws, summarise_draws
from dagora.effects.contrast import EffectContrast, Value, read_contrast
from dagora.effects.drawn_graphs import DrawnGraphs
from dagora.effects.drawn_sets import draw_effects
from dagora.effects.effect_rows import EffectRows

Array = NDArray[np.float64]

MOSTLY_THERE = 0.05  # weight of graphs whose estimates lack support above which a pair is told of


def average_pairs(graphs: DrawnGraphs, rows: EffectRows, seed: int = 0) -> AllEffects:
    """The effects of all pairs, averaged over graphs."""
    table, names = rows.table, graphs.distinct.names
    size = len(names)
    mean, low, high = (np.zeros((size, size)) for _ in range(3))
    contrasts: dict[tuple[str, str], EffectContrast] = {}
    thin, refused = 0, []
    for i, x in enumerate(names):
        for j, y in enumerate(names):
            if i == j:
                continue
            try:
                contrast = contrasts[x, y] = default_contrast(table, x, y)
                values, used = draw_effects(graphs, rows, contrast, seed, np.random.default_rng(seed))
            except (DataError, OptionError) as error:
                refused.append(str(error))
                mean[i, j] = low[i, j] = high[i, j] = np.nan
                continue
            causes = graphs.causes([x], y)[graphs.distinct.index]
            found = summarise_draws(EffectDraws(values, causes, graphs.weights), contrast)["difference"]
            mean[i, j], low[i, j], high[i, j] = found.value, found.low, found.high
            thin += sum(one.weight for one in used if one.estimate.support.notes) > MOSTLY_THERE
    spread = np.array([spread_of(table, place) for place in range(size)])
    notes = (*graphs.notes, *notes_on_pairs(table, thin, refused))
    return AllEffects(
        names, mean, low, high, cause_probabilities(graphs), spread, graphs.source, notes, contrasts
    )


def default_contrast(table: Table, x: str, y: str) -> EffectContrast:
    """The contrast where nobody names one: of more than two levels, the two that most rows have."""
    places = [table.schema.index(name) for name in (x, y)]
    levels: list[Value] | None = None
    event: Value | None = None
    if has_many_levels(table.schema[places[0]]):
        first, second = frequent_levels(table, places[0])[:2]
        levels = [second, first]
    if has_many_levels(table.schema[places[1]]):
        event = frequent_levels(table, places[1])[0]
    return read_contrast(table, x, y, levels, event)


def has_many_levels(variable: Variable) -> bool:
    """Return True for a discrete column with more than two levels."""
    return variable.kind is Kind.DISCRETE and variable.cardinality > 2


def frequent_levels(table: Table, place: int) -> list[str]:
    """The levels of a column, those with most rows first."""
    levels = table.schema[place].levels
    counts = np.bincount(table.codes(place), minlength=len(levels))
    return [levels[code] for code in np.argsort(-counts, kind="stable")]


def spread_of(table: Table, place: int) -> float:
    """The standard deviation of a column; of a discrete one, of having its most frequent level or not."""
    if table.schema[place].kind is Kind.CONTINUOUS:
        return float(table.values(place).std())
    share = float(np.bincount(table.codes(place)).max()) / table.n_rows
    return float(np.sqrt(share * (1 - share)))


def notes_on_pairs(table: Table, thin: int, refused: Sequence[str]) -> list[str]:
    """The notes that hold for many pairs, each once."""
    notes = []
    if any(has_many_levels(variable) for variable in table.schema):
        notes.append("of columns with more than two levels, the two that most rows have are compared")
    if thin:
        notes.append(f"in {thin} pairs the rows do not carry all of the answer: ask about one pair for where")
    if refused:
        notes.append(f"{len(refused)} pairs cannot be told, such as: {refused[0]}")
    return notes
