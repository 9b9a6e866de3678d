"""Adjustment identification distances: how many effects a graph gets wrong (Henckel et al. 2024).

For each ordered pair (t, y) a guess says that setting t leaves y as it is, that its class leaves the effect
open, or which set to adjust for. It is wrong if the truth says that there may be an effect, if only one of
both leaves it open, or if the set is not valid in the truth. By the rule, a guess adjusts for

parent     the parents of t, and calls the effect on them zero; on DAGs this is the structural intervention
           distance SID (Peters & Bühlmann 2015)
ancestor   the ancestors of t
optimal    the set of the least asymptotic variance

and by the last two, effects on what is no possible descendant of t are zero. Each distance counts from 0 to
p (p − 1) pairs. It is not symmetric: the second graph is the truth.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError
from dagora.graph.adjustment_kernels import SEEN, count_mistakes
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.equivalence import consistent_extension, cpdag_matrix
from dagora.graph.random_graphs import generator_of, random_dag

Matrix = NDArray[np.bool_]
Integers = NDArray[np.int32]
Lists = tuple[Integers, Integers]
Rule = Literal["parent", "ancestor", "optimal"]
RULES: tuple[Rule, ...] = get_args(Rule)
# Random graphs of the control, and the fewer of them on more nodes than this.
CONTROLS, FEW_CONTROLS, MANY_NODES = 20, 5, 300


@dataclass(frozen=True, slots=True)
class Mistakes:
    """The ordered pairs whose effect an estimate gets wrong, of how many, and the median of random graphs."""

    parent: int
    ancestor: int
    optimal: int
    pairs: int
    random_parent: float
    random_ancestor: float
    random_optimal: float

    def share(self, rule: Rule, *, random: bool = False) -> float:
        """The share of pairs that are wrong, of the estimate or of random graphs."""
        return float(getattr(self, f"random_{rule}" if random else rule)) / max(1, self.pairs)


@dataclass(frozen=True, slots=True)
class AdjustmentDistances:
    """Distances of two graphs as they are and of their classes, against `controls` random graphs."""

    dag: Mistakes
    cpdag: Mistakes
    controls: int
    seed: int
    sid: int | None

    def rows(self) -> list[tuple[str, list[float]]]:
        """Rows of a table: a graph compared with the truth, and its share of wrong pairs by each rule."""
        return [
            (f"{name}{', random' if random else ''}", [wrong.share(rule, random=random) for rule in RULES])
            for name, wrong in (("DAG", self.dag), ("CPDAG", self.cpdag))
            for random in (False, True)
        ]

    def describe(self) -> str:
        """The meaning of the shares, in two sentences."""
        return (
            f"Share of the {self.dag.pairs} ordered pairs whose effect would be wrong, adjusting for parents "
            "(of DAGs: SID), ancestors or the optimal set. Random: the median of "
            f"{self.controls} random graphs with as many edges (seed {self.seed})."
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return asdict(self)


def adjustment_distance(estimate: Graph, truth: Graph, rule: Rule = "parent") -> int:
    """Count the ordered pairs whose effect the estimate gets wrong; both need the same nodes in one order.

    >>> from dagora.graph.dag import DAG
    >>> truth = DAG("abc", ["ab", "bc"])
    >>> [adjustment_distance(DAG("abc", ["ba", "bc"]), truth, rule) for rule in RULES]
    [3, 3, 3]
    """
    if rule not in RULES:
        raise GraphError(f"unknown rule '{rule}': use {', '.join(RULES)}")
    ours, theirs = (neighbour_lists(graph.to_numpy()) for graph in (estimate, truth))
    if ours is None or theirs is None:
        which = "estimate" if ours is None else "truth"
        raise GraphError(f"the {which} is neither a DAG nor the CPDAG of one")
    return count(ours, theirs, rule)


def adjustment_distances(estimate: Graph, truth: Graph, seed: int = 0) -> AdjustmentDistances | None:
    """All distances, with those of random graphs; None where a graph is neither a DAG nor a CPDAG.

    The nodes of both are the same, in one order. A random graph has as many edges as the estimate.
    """
    found = [
        neighbour_lists(graph.to_numpy()) for graph in (estimate, truth, *map(class_of, (estimate, truth)))
    ]
    if found[0] is None or found[1] is None or found[2] is None or found[3] is None:
        return None
    size, edges = len(truth), len(estimate.edges) + len(estimate.undirected)
    controls = CONTROLS if size <= MANY_NODES else FEW_CONTROLS
    generator = generator_of(seed)
    drawn = [random_dag("er", size, edges / size, generator, exact=True).to_numpy() for _ in range(controls)]
    classes = [require_lists(cpdag_matrix(matrix)) for matrix in drawn]
    like = classes if isinstance(estimate, CPDAG) else [require_lists(matrix) for matrix in drawn]
    both_directed = not estimate.undirected and not truth.undirected
    dag = mistakes(found[0], found[1], like)
    return AdjustmentDistances(
        dag, mistakes(found[2], found[3], classes), controls, seed, dag.parent if both_directed else None
    )


def mistakes(estimate: Lists, truth: Lists, controls: list[Lists]) -> Mistakes:
    """Distances of an estimate and the medians of some other graphs."""
    size = truth[0].shape[1] - 1
    own = {rule: count(estimate, truth, rule) for rule in RULES}
    random = {rule: float(median(count(one, truth, rule) for one in controls)) for rule in RULES}
    return Mistakes(
        own["parent"],
        own["ancestor"],
        own["optimal"],
        size * (size - 1),
        random["parent"],
        random["ancestor"],
        random["optimal"],
    )


def count(estimate: Lists, truth: Lists, rule: Rule) -> int:
    """The number of ordered pairs whose effect is wrong."""
    size = truth[0].shape[1] - 1
    marks = np.empty((SEEN + 1, size), dtype=np.uint8)
    stack = np.empty(4 * size + 1, dtype=np.int32)
    return int(count_mistakes(*truth, *estimate, RULES.index(rule), marks, stack))


def class_of(graph: Graph) -> Graph:
    """The CPDAG of a DAG; any other graph as it is."""
    return graph if isinstance(graph, CPDAG) else CPDAG.from_dag(graph)


def require_lists(matrix: Matrix) -> Lists:
    """The lists of a graph that is known to be a DAG or a CPDAG."""
    lists = neighbour_lists(matrix)
    if lists is None:
        raise GraphError("the graph is neither a DAG nor the CPDAG of one")
    return lists


def neighbour_lists(matrix: Matrix) -> Lists | None:
    """Neighbours of each node: starts of the five lists of `adjustment_kernels`, and the nodes in them.

    None if there are undirected edges and the graph is not the CPDAG of a DAG.
    """
    lines = matrix & matrix.T
    member = consistent_extension(matrix) if lines.any() else matrix
    if member is None or (lines.any() and not np.array_equal(cpdag_matrix(member), matrix)):
        return None
    starts, nodes = [], []
    before = 0
    for kind in (member.T, member, (matrix & ~lines).T, lines, matrix):
        tails, heads = np.nonzero(kind)
        starts.append(before + np.searchsorted(tails, np.arange(len(matrix) + 1)))
        nodes.append(heads)
        before += len(heads)
    return np.array(starts, dtype=np.int32), np.concatenate(nodes).astype(np.int32)
