"""The effective number of rows with weights, or of groups: as many independent rows of equal weight tell it.

Weights: (Σw)² / Σw² (Kish 1965). Groups: n / D with the design effect D = 1 + (m − 1) ρ₁ρ₂, where m is the
size of the group of a row, on average over rows, and ρ₁ and ρ₂ are the two largest intraclass correlations
of columns. The covariance of two columns whose intraclass correlations are ρ and ρ′ has about the variance of
n / (1 + (m − 1) ρρ′) independent rows (Scott & Holt 1982 have it for regressions): so D is the largest
design effect of a pair, and one column that is the same within each group changes nothing by itself.

An intraclass correlation is that of a one-way analysis of variance, (B − W) / (B + (m₀ − 1) W) with the mean
squares between and within groups; of a discrete column, their sums over the indicators of its levels. Columns
that were centred within groups have none, and each group takes a degree of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.phrases import some_of
from dagora.data.designed import DesignedTable
from dagora.data.schema import Kind

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEWEST = 2  # effective rows


@dataclass(frozen=True)
class EffectiveRows:
    """The number of rows, the number of independent ones of equal weight they are worth, and why."""

    rows: int
    effective: int
    message: str


def effective_rows(designed: DesignedTable) -> EffectiveRows:
    """The effective number of the rows of a table.

    >>> from dagora.data.columns.row_design import RowDesign
    >>> from dagora.data.table import Table
    >>> table = Table.from_numpy([[0.5], [1.5], [2.5]])
    >>> effective_rows(DesignedTable(table, RowDesign(np.array([1.0, 1.0, 4.0]), by_weight="w")))
    EffectiveRows(rows=3, effective=2, message="with the weights in 'w' the 3 rows count as 2, the ...")
    """
    design, rows = designed.design, designed.n_rows
    effective, said = float(rows), []
    if design.weights is not None:
        effective = by_weights(design.weights)
        said.append(f"with the weights in '{design.by_weight}'")
    if design.groups is not None:
        sizes = np.bincount(design.groups)
        if design.within:
            effective *= 1 - (len(sizes) - 1) / rows
            said.append(f"within the groups of '{design.by_group}' ({some_of(list(design.within))} centred)")
        correlations = intraclass_correlations(designed)
        largest = sorted(correlations, key=lambda name: -correlations[name])[:2]
        effect = design_effect(sizes, [correlations[name] for name in largest])
        effective /= effect
        reason = ", ".join(f"{correlations[name]:.2f} of {name}" for name in largest)
        said.append(
            f"in {len(sizes)} groups of '{design.by_group}' (design effect {effect:.3g}; largest intraclass "
            f"correlations {reason})"
        )
    number = max(1, round(effective))
    return EffectiveRows(
        rows, number, f"{' and '.join(said)} the {rows} rows count as {number}, the effective number"
    )


def by_weights(weights: Floats) -> float:
    """The effective number of rows with weights.

    >>> by_weights(np.array([2.0, 2.0])), by_weights(np.array([3.0, 1.0]))
    (2.0, 1.6)
    """
    return float(weights.sum() ** 2 / (weights**2).sum())


def design_effect(sizes: Integers, correlations: list[float]) -> float:
    """The variance of a covariance, as a multiple of that of independent rows.

    >>> design_effect(np.array([10, 10]), [0.5, 0.4]), design_effect(np.array([1, 1]), [1.0, 1.0])
    (2.8, 1.0)
    """
    usual = float((sizes**2).sum() / sizes.sum())
    together = float(np.prod(correlations)) if len(correlations) > 1 else 0.0
    return 1 + (usual - 1) * together


def intraclass_correlations(designed: DesignedTable) -> dict[str, float]:
    """The intraclass correlation of each column, from 0 to 1."""
    table, design = designed.table, designed.design
    assert design.groups is not None
    found = {}
    for place, variable in enumerate(table.schema):
        if variable.name in design.within:
            found[variable.name] = 0.0
        elif variable.kind is Kind.CONTINUOUS:
            found[variable.name] = intraclass_correlation(table.columns[place][None], design.groups)
        else:
            levels = np.arange(variable.cardinality)[:, None]
            indicators = (table.columns[place] == levels).astype(np.float64)
            found[variable.name] = intraclass_correlation(indicators, design.groups)
    return found


def intraclass_correlation(values: Floats, groups: Integers) -> float:
    """The intraclass correlation of the rows of a matrix together, from 0 to 1.

    >>> groups = np.array([0, 0, 1, 1, 2, 2])
    >>> round(intraclass_correlation(np.array([[1.0, 3, 5, 7, 1, 5]]), groups), 3)
    0.368
    >>> round(intraclass_correlation(np.array([[1.0, 1, 5, 5, 2, 2]]), groups), 3)
    1.0
    """
    sizes = np.bincount(groups)
    n, number = len(groups), len(sizes)
    if number in {1, n}:
        return 0.0
    apart = values - values.mean(axis=1, keepdims=True)
    scale = np.abs(apart).max(initial=0.0)
    if scale == 0 or not np.isfinite(scale):
        return 0.0
    apart = apart / scale
    sums = np.stack([np.bincount(groups, row, number) for row in apart])
    between = float((sums**2 / sizes).sum())
    within = max(0.0, float((apart**2).sum()) - between)
    between, within = between / (number - 1), within / (n - number)
    usual = (n - float((sizes**2).sum()) / n) / (number - 1)
    whole = between + (usual - 1) * within
    return float(np.clip((between - within) / whole, 0.0, 1.0)) if whole > 0 else 0.0
