"""The effect adjusted for one set, by the estimator for the kinds of the columns."""

from __future__ import annotations

from collections.abc import Sequence

from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast
from dagora.effects.linear import regress
from dagora.effects.logistic import regress_event
from dagora.effects.set_estimate import SetEstimate
from dagora.effects.standardise import standardise


def estimate_with(
    table: Table, contrast: EffectContrast, adjust: Sequence[str], seed: int = 0
) -> SetEstimate:
    """The effect adjusted for a set of columns."""
    adjust = [name for name in adjust if name not in contrast.given]  # constant among the rows
    if contrast.event is None:
        return regress(table, contrast, adjust)
    if all_discrete(table, (*contrast.x, *adjust)):
        return standardise(table, contrast, adjust, seed)
    return regress_event(table, contrast, adjust)


def all_discrete(table: Table, names: Sequence[str]) -> bool:
    """Return True if all these columns are discrete."""
    return all(table.schema[table.schema.index(name)].kind is Kind.DISCRETE for name in names)
