"""The strata that least support an answer: those with fewest rows of one of the values compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast
from dagora.effects.set_estimate import StratumRows
from dagora.effects.standardise import is_set, strata_of

MOST_STRATA = 20


def thinnest_strata(table: Table, contrast: EffectContrast, adjust: Sequence[str]) -> tuple[StratumRows, ...]:
    """The thinnest strata of a discrete x and discrete columns adjusted for, at most 20; none of others."""
    schema = table.schema
    names = [name for name in adjust if name not in contrast.given]
    kinds = {schema[schema.index(name)].kind for name in (*names, *contrast.x)}
    if not names or kinds != {Kind.DISCRETE}:
        return ()
    stratum = strata_of(table, names)
    first = np.unique(stratum, return_index=True)[1]
    number = len(first)
    sides = {
        contrast.setting(values): np.bincount(stratum[is_set(table, contrast.x, values)], minlength=number)
        for values in (contrast.to, contrast.base)
    }
    rows = np.bincount(stratum, minlength=number)
    least = np.minimum(*sides.values())
    return tuple(
        StratumRows(
            {name: level_at(table, name, int(first[place])) for name in names},
            int(rows[place]),
            {value: int(counts[place]) for value, counts in sides.items()},
        )
        for place in np.lexsort((rows, least))[:MOST_STRATA].tolist()
    )


def level_at(table: Table, name: str, row: int) -> str:
    """The level of a column in a row."""
    place = table.schema.index(name)
    return table.schema[place].levels[int(table.codes(place)[row])]
