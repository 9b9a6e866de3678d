"""The choice among equally good graphs: the member of the equivalence class that follows the column order.

Equivalent graphs often have the same score up to the last bits, and those bits depend on the order in which
sums were computed. A solver may therefore end in any of them. Here all take the same member of the class, so
that the same rows give the same graph whether they are in one table or spread over sites.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import DAG
from dagora.graph.equivalence import consistent_extension, cpdag_matrix
from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates.candidates import Candidates
from dagora.scores.local_score import TIE, LocalScore, graph_score


def in_column_order(graph: DAG, candidates: Candidates) -> DAG:
    """The member of a graph's class that follows the columns, if its families are candidates and score equal.

    >>> pair = Candidates.of("ab", [[((), -2.0), ((1,), -1.0)], [((), -2.0), ((0,), -1.0)]])
    >>> in_column_order(DAG("ab", [("b", "a")]), pair).edges
    (('a', 'b'),)
    """
    other = follower(graph)
    if other == graph:
        return graph
    values, ours = family_scores(other, candidates), family_scores(graph, candidates)
    if values is None or ours is None:
        return graph
    return other if values.sum() >= ours.sum() - TIE * abs(ours.sum()) else graph


def in_order_by_score(graph: DAG, score: LocalScore, knowledge: Knowledge) -> DAG:
    """The same where there is a score of any family; knowledge about edges leaves the graph as it is."""
    other = follower(graph)
    limit = len(graph) if knowledge.max_parents is None else knowledge.max_parents
    if Knowledge(max_parents=knowledge.max_parents) != knowledge:
        return graph
    if other == graph or other.to_numpy().sum(axis=0).max(initial=0) > limit:
        return graph
    ours = graph_score(score, graph)
    return other if graph_score(score, other) >= ours - TIE * abs(ours) else graph


def follower(graph: DAG) -> DAG:
    """The member of a graph's class that follows the columns.

    >>> follower(DAG("ab", [("b", "a")])).edges
    (('a', 'b'),)
    """
    marks = consistent_extension(cpdag_matrix(graph.to_numpy()))
    return graph if marks is None else DAG.from_numpy(marks, graph.nodes)


def family_scores(graph: DAG, candidates: Candidates) -> NDArray[np.float64] | None:
    """Score of each child's family; None if a family is not a candidate."""
    values = np.empty(len(graph))
    for child in candidates.sets:
        rows = np.flatnonzero((child.masks == graph.parent_rows[child.child]).all(axis=1))
        if not rows.size:
            return None
        values[child.child] = child.scores[rows[0]]
    return values
