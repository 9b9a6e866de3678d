"""The sets of columns that a database counts, such that the counts of all others are sums of those.

Each query walks through all rows, however many columns it groups by. So sets are merged while the product of
their levels stays small: those that share most columns first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.stats.blocks.cover import Set

# The most groups that one query may have: at least FEWEST, and beyond that one for ROWS_PER_GROUP rows.
FEWEST, MOST, ROWS_PER_GROUP = 1 << 12, 1 << 16, 8


class QueryPlan(NamedTuple):
    """The sets that are asked for, one query each, and for every wanted set the query it is a part of."""

    queries: list[Set]
    source_of: dict[Set, int]


def queries_in_words(widths: Sequence[int]) -> str:
    """The number of columns of each query; sums over all rows are over none.

    >>> queries_in_words([2, 3, 0, 0]), queries_in_words([0]), queries_in_words([4])
    ('4 queries, over 2 to 3 columns and for sums', '1 query, for sums', '1 query, over 4 columns')
    """
    grouped = sorted(filter(None, widths))
    parts = []
    if grouped:
        span = f"{grouped[0]}" if grouped[0] == grouped[-1] else f"{grouped[0]} to {grouped[-1]}"
        parts.append(f"over {span} column{'s' * (grouped[-1] > 1)}")
    if len(grouped) < len(widths):
        parts.append("for sums")
    return f"{len(widths)} {'query' if len(widths) == 1 else 'queries'}, {' and '.join(parts)}"


def plan_queries(wanted: list[Set], levels: NDArray[np.int64], rows: int) -> QueryPlan:
    """Merge sets of ascending columns into few queries.

    >>> plan_queries([(0, 1), (1, 2), (1,), (3, 4)], np.array([2, 2, 2, 90, 90]), 1000)
    QueryPlan(queries=[(3, 4), (0, 1, 2)], source_of={(3, 4): 0, (0, 1): 1, (1, 2): 1, (1,): 1})
    """
    limit = np.log(min(MOST, max(FEWEST, rows // ROWS_PER_GROUP))) + 1e-9
    logs = np.log(np.maximum(1, levels))
    ordered = sorted(set(wanted), key=lambda each: (-len(each), -logs[list(each)].sum(), each))
    members = np.zeros((len(ordered), len(levels)))
    sizes = np.zeros(len(ordered))
    made = 0
    source_of: dict[Set, int] = {}
    for each in ordered:
        own = np.zeros(len(levels))
        own[list(each)] = 1.0
        size = logs[list(each)].sum()
        merged = sizes[:made] + size - members[:made] @ (own * logs)
        growth = merged - sizes[:made]
        # A part of a query comes first, whatever its size; then the one that grows least.
        fits = np.flatnonzero((merged <= limit) | (members[:made] @ own == len(each)))
        if len(fits):
            place = int(fits[np.argmin(growth[fits])])
        else:
            place, made = made, made + 1
        members[place] = np.maximum(members[place], own)
        sizes[place] = logs @ members[place]
        source_of[each] = place
    return QueryPlan([tuple(np.flatnonzero(members[k]).tolist()) for k in range(made)], source_of)
