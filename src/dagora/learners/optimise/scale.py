"""How much of a result the scale of the columns alone explains: its sortability, with warnings.

See `sortability` for the measures. A graph without edges has no paths and therefore no sortability.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import DAG
from dagora.learners.optimise.sortability import r2_sortability, varsortability

# From this share of paths on, sorting the columns alone nearly gives the order of the graph.
SORTABLE = 0.9


def judge_scale(
    graph: DAG, covariance: NDArray[np.float64], remedy: str | None
) -> tuple[dict[str, float], list[str]]:
    """Sortability of a graph on data of that covariance, with warnings.

    `remedy` says how to make the method independent of units; None where it already is.

    >>> judge_scale(DAG("ab", [("a", "b")]), np.array([[1.0, 2.0], [2.0, 5.0]]), None)[0]
    {'varsortability': 1.0, 'r2_sortability': 0.5}
    """
    if not graph.edges:
        return {}, []
    support = graph.to_numpy()
    by_variance = varsortability(support, np.diag(covariance))
    by_fit = r2_sortability(support, covariance)
    warnings = []
    if by_variance >= SORTABLE and remedy is not None:
        warnings.append(
            f"{by_variance:.0%} of the paths lead to a larger variance: the units of the columns alone "
            f"suggest this graph, and other units would suggest another; {remedy}"
        )
    if by_fit >= SORTABLE:
        warnings.append(
            f"{by_fit:.0%} of the paths lead to a column that the others explain better: "
            "directions may follow that and nothing else"
        )
    return {"varsortability": by_variance, "r2_sortability": by_fit}, warnings
