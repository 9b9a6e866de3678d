"""The effect in those rows alone in which x was set, and nothing else: without adjustment or a graph.

If a lot decided who was set to which value, what else causes y does not differ between the values, seen or
hidden. So these rows answer where the graph leaves the effect open, and stand beside its answer where it does
not: a common cause that is missing from the graph shows there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dagora.base.errors import DataError
from dagora.base.phrases import amount, was_or_were
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast
from dagora.effects.design import split_causes
from dagora.effects.effect_rows import EffectRows
from dagora.effects.one_set import estimate_with
from dagora.effects.result import Effect
from dagora.effects.standardise import is_level

BY_LOT = "who was set to which value was decided by lot, and not by what else causes the outcome"
FEWEST_VALUES = 3
"""Values that a continuous x was set to: with fewer, a line through them is no more than the two compared."""


def with_set_rows(effect: Effect, rows: EffectRows, seed: int = 0) -> Effect:
    """The effect with that of the rows in which x was set beside it, or in its place where it is open."""
    contrast = effect.contrast
    table = rows_set_alone(rows, contrast)
    if table is None or not table.n_rows:
        return effect
    open_ = effect.verdict == "not identified"
    deciding = effect.reason.partition(";")[0]
    try:
        found = effect_where_set(table, contrast, seed)
    except DataError as error:
        if not open_:
            return effect
        x = " and ".join(contrast.x)
        where = f"the {amount(table.n_rows, 'row')} in which {x} {was_or_were(contrast.x)} set"
        return replace(effect, reason=f"{deciding}; {where} cannot settle it: {error.text}")
    if open_:
        return replace(found, reason=deciding, open_edges=effect.open_edges, graph=effect.graph)
    return replace(effect, where_set=found, notes=(*effect.notes, *contradiction(effect, found)))


def rows_set_alone(rows: EffectRows, contrast: EffectContrast) -> Table | None:
    """The rows in which x was set and nothing else; None where nothing was set in any row."""
    marks = rows.interventions
    if marks is None:
        return None
    alone = np.array([set(targets) == set(contrast.x) for targets in marks.regimes], dtype=np.bool_)
    kept = alone[marks.of_row]
    for name, level in contrast.given.items():
        kept &= is_level(rows.table, name, level)
    return rows.table.take(kept)


def effect_where_set(table: Table, contrast: EffectContrast, seed: int = 0) -> Effect:
    """The effect by a table of rows in which x was set; an error where they do not compare values of x."""
    refuse_one_value(table, contrast)
    found = estimate_with(table, contrast, (), seed)
    return Effect(
        contrast,
        "set",
        found.estimates,
        (),
        found.how,
        table.n_rows,
        found.support,
        assumptions=(BY_LOT, *found.assumes),
    )


def refuse_one_value(table: Table, contrast: EffectContrast) -> None:
    """Refuse rows in which x was not set to both values compared, or, of a number, to a few values."""
    discrete, continuous = split_causes(table, contrast)
    for values in (contrast.to, contrast.base):
        there = np.ones(table.n_rows, dtype=np.bool_)
        for place in discrete:
            there &= is_level(table, contrast.x[place], values[place])
        if not there.any():
            said = " and ".join(f"{contrast.x[place]}={values[place]}" for place in discrete)
            raise DataError(f"none was set to {said}")
    for place in continuous:
        name = contrast.x[place]
        seen = np.unique(table.values(table.schema.index(name)))
        if len(seen) < FEWEST_VALUES and not {contrast.to[place], contrast.base[place]} <= set(seen.tolist()):
            raise DataError(f"{name} was set to {amount(len(seen), 'value')} only")


def contradiction(effect: Effect, found: Effect) -> list[str]:
    """A note where the interval of the rows in which x was set lies apart from that of the answer."""
    one, other = effect.estimates["difference"], found.estimates["difference"]
    if one.low <= other.high and other.low <= one.high:
        return []
    x = " and ".join(effect.x)
    said = f"the rows in which {x} {was_or_were(effect.x)} set contradict this"
    return [f"{said}: a common cause may be missing, a graph may be wrong, or no lot decided who was set"]
