"""Grow a search space until the best graph in it needs no parent outside the cores.

The plus-one parents that a good graph uses belong in the cores, where they combine freely. So: score the
families of the space, find a good graph in it, add its edges to the cores, and repeat until nothing changes
(Kuipers, Suter & Moffa 2022, "Efficient sampling and structure learning of Bayesian networks").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.base.options import GIBIBYTE
from dagora.learners.run import Run
from dagora.posterior.space.best_graph import best_graph
from dagora.posterior.space.family_tables import BYTES_PER_ENTRY, FamilyTables, family_tables_in_time
from dagora.posterior.space.priors import GraphPrior
from dagora.posterior.space.space import Space
from dagora.scores.local_score import LocalScore

# Given the weights of a space: the edges of a good graph in it ([i, j] is i → j), or their frequencies.
FindEdges = Callable[[FamilyTables, Run], NDArray[np.bool_] | NDArray[np.float64]]


def find_space_iteratively(
    score: LocalScore,
    prior: GraphPrior,
    run: Run,
    start: Space,
    *,
    find_edges: FindEdges = best_graph,
    above: float = 0.5,
    most: int = 14,
    rounds: int = 10,
    memory: float = 4.0,
) -> Space:
    """Enlarge the cores of `start` by the edges that `find_edges` finds, until the cores have them all.

    With `frequent_edges` and `above` 0.1 the space holds more of the posterior, and more families are scored.
    A core gets at most `most` parents.
    """
    space, cut, end = start, False, ""
    for step in range(rounds):
        cut = run.budget.exhausted and not space.complete
        if space.complete or cut:
            break
        run.on_event(Event("growing the space", step + 1, total=rounds))
        tables, missing = family_tables_in_time(score, space, prior, run, memory=memory)
        edges = None if missing else find_edges(tables, run)
        # Chains that were cut off are still near their random starts.
        if edges is None or run.budget.left <= 0.0:
            cut = True
            break
        wider = enlarge(space, edges, above=above, most=most)
        if wider.cores == space.cores:
            left = sum(len(wanted(space, edges, child, above)) for child in range(len(space.cores)))
            end = f", and {left} not, as cores have at most {most}" if left else ""
            break
        if wider.families() * BYTES_PER_ENTRY / GIBIBYTE > memory:
            end = f", and more not, as their families need more than {memory:g} GiB"
            break
        space = wider
    else:
        end = f", which was ended after {rounds} rounds"
    added = sum(map(len, space.cores)) - sum(map(len, start.cores))
    if not (added or cut or end):
        return start
    late = ", which ran out of time" if cut else end
    note = f"{start.note}; {added} parents added by enlarging{late}"
    return replace(space, note=note, cut=(cut or start.cut) and not space.complete)


def enlarge(
    space: Space, edges: NDArray[np.bool_] | NDArray[np.float64], *, above: float = 0.5, most: int = 14
) -> Space:
    """Add to the cores, in both directions, the edges that are more frequent than `above`.

    The most frequent come first, until a core has `most` parents.

    >>> narrow = Space.plus_one([(1,), (0,), ()], "as told")
    >>> enlarge(narrow, np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]])).cores
    ((1, 2), (0,), (0,))
    """
    cores = []
    for child, core in enumerate(space.cores):
        fresh = wanted(space, edges, child, above)
        cores.append((*core, *fresh[: max(0, most - len(core))]))
    return Space.plus_one(cores, space.note)


def wanted(
    space: Space, edges: NDArray[np.bool_] | NDArray[np.float64], child: int, above: float
) -> list[int]:
    """Parents beyond a core that are joined with the child more often than `above`, most frequent first."""
    often = np.maximum(edges[:, child], edges[child]).astype(np.float64)
    fresh = [parent for parent in space.extras[child] if often[parent] > above]
    return sorted(fresh, key=lambda parent: (-often[parent], parent))
