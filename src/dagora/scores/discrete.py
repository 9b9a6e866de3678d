"""What the scores of discrete families have in common: occupied joint counts and numbers of cells.

For child X with r levels and parents P with q joint configurations, the scores here are
Σ φ(n) over the occupied cells of P ∪ {X} plus Σ ψ(n) over those of P, plus a term of r and q alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.data.schema import Kind
from dagora.errors import DataError
from dagora.scores.local_score import Family
from dagora.stats.statistics import Statistics

# No data fill more configurations than this; numbers of configurations beyond it are not told apart.
MOST_CONFIGURATIONS = 1e200


@dataclass(frozen=True, slots=True)
class FamilyCounts:
    """Counts of K families: joint cells of family k are sets k, parent cells sets K + k of `offsets`.

    `levels` is r, `configurations` is q as a float (it may exceed any integer type).
    """

    values: NDArray[np.int64]
    offsets: NDArray[np.int64]
    levels: NDArray[np.int64]
    configurations: NDArray[np.float64]


def count_families(statistics: Statistics, families: Sequence[Family]) -> FamilyCounts:
    """Ask for the counts of all families in one call."""
    joint = [(child, *parents) for child, parents in families]
    counts = statistics.counts(joint + [tuple(parents) for _, parents in families])
    cardinalities = statistics.schema.cardinalities
    levels = cardinalities[[child for child, _ in families]] if families else cardinalities[:0]
    configurations = np.ones(len(families))
    for k, (_, parents) in enumerate(families):
        for parent in parents:
            configurations[k] = min(configurations[k] * cardinalities[parent], MOST_CONFIGURATIONS)
    return FamilyCounts(counts.values, counts.offsets, levels, configurations)


def require_discrete(statistics: Statistics, score: str) -> None:
    """Refuse columns that a discrete score cannot take."""
    for variable in statistics.schema:
        if variable.kind is not Kind.DISCRETE:
            raise DataError(
                f"the score {score} needs discrete columns, but '{variable.name}' is continuous: "
                "discretise it, declare it discrete, or use a Gaussian score"
            )


@kernel
def sum_over_cells(
    values: NDArray[np.int64], offsets: NDArray[np.int64], function: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Σ function[n] over the counts of each set."""
    sums = np.zeros(len(offsets) - 1)
    for k in range(len(sums)):
        total = 0.0
        for cell in range(offsets[k], offsets[k + 1]):
            total += function[values[cell]]
        sums[k] = total
    return sums
