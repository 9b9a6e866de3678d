r"""The k best classes of equivalent networks by dynamic programming over subsets.

Every DAG over W has a sink s. Without it, it is a DAG over W \ {s}; and equivalent DAGs over W \ {s} give
equivalent DAGs over W if s gets the same parents, others never. So the k best classes over W are among those
made of the k best over W \ {s} and the k best sets of parents of s, for every s (Tian, He & Ram 2010; Chen &
Tian 2014). The score must be the same for equivalent DAGs.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.run import Run
from dagora.learners.search.exact.class_key import ClassKey

MOST_VARIABLES = 15
"""Lists for all subsets of more take minutes and gigabytes."""

SUBSETS_A_LOOK = 64


class Ranked(NamedTuple):
    """One of the best classes over a subset: its score, and the sink with its row that was added last."""

    score: float
    key: ClassKey
    sink: int
    row: int
    before: int
    """The place in the list of the subset without the sink."""


def k_best_by_subsets(candidates: Candidates, run: Run, k: int) -> list[tuple[float, tuple[int, ...]]] | None:
    """Scores and DAGs (masks of parents) of the k best classes, best first; None where time is up.

    >>> listed = [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]]
    >>> k_best_by_subsets(Candidates.of("ab", listed), Run(), 3)
    [(-3.0, (2, 0)), (-5.0, (0, 0))]
    """
    d = len(candidates)
    masks = [child.masks[:, 0].astype(np.int64) for child in candidates]
    scores = [child.scores.tolist() for child in candidates]
    lists: list[list[Ranked]] = [[] for _ in range(1 << d)]
    lists[0] = [Ranked(0.0, ClassKey(d), -1, -1, -1)]
    for subset in range(1, 1 << d):
        if subset % SUBSETS_A_LOOK == 0:
            run.on_event(Event("dynamic programming over classes", subset, total=1 << d))
            if run.budget.exhausted:
                return None
        lists[subset] = best_over(subset, lists, masks, scores, k)
    return [(one.score, traced(lists, (1 << d) - 1, place, masks)) for place, one in enumerate(lists[-1])]


def best_over(
    subset: int,
    lists: Sequence[list[Ranked]],
    masks: Sequence[NDArray[np.int64]],
    scores: Sequence[list[float]],
    k: int,
) -> list[Ranked]:
    r"""The k best classes over a subset, from those over the subsets with one variable less."""
    heap: list[tuple[float, int, int, int]] = []
    rows: dict[int, list[int]] = {}
    for s in range(len(masks)):
        if not subset >> s & 1:
            continue
        rest = subset & ~(1 << s)
        rows[s] = np.flatnonzero((masks[s] & ~rest) == 0)[:k].tolist()
        if rows[s] and lists[rest]:
            heapq.heappush(heap, (-(lists[rest][0].score + scores[s][rows[s][0]]), s, 0, 0))
    found: list[Ranked] = []
    known: set[ClassKey] = set()
    while heap and len(found) < k:
        negative, s, i, j = heapq.heappop(heap)
        below = lists[subset & ~(1 << s)]
        row = rows[s][j]
        key = below[i].key.with_sink(s, int(masks[s][row]))
        if key not in known:
            known.add(key)
            found.append(Ranked(-negative, key, s, row, i))
        # Each pair of places is reached once: along its row, or from the start of the row above.
        if j + 1 < len(rows[s]):
            heapq.heappush(heap, (-(below[i].score + scores[s][rows[s][j + 1]]), s, i, j + 1))
        if j == 0 and i + 1 < len(below):
            heapq.heappush(heap, (-(below[i + 1].score + scores[s][rows[s][0]]), s, i + 1, 0))
    return found


def traced(
    lists: Sequence[list[Ranked]], subset: int, place: int, masks: Sequence[NDArray[np.int64]]
) -> tuple[int, ...]:
    """The masks of parents of a DAG of a class."""
    parents = [0] * len(masks)
    while subset:
        one = lists[subset][place]
        parents[one.sink] = int(masks[one.sink][one.row])
        subset &= ~(1 << one.sink)
        place = one.before
    return tuple(parents)
