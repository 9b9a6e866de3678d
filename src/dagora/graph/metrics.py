"""Distances between an estimated graph and the truth.

Each pair of nodes is read as no edge, →, ← or —, and classified once: *correct*, *reversed* (an edge in both
graphs, marked differently), *extra* (only in the estimate) or *missing* (only in the truth). Then

    SHD = extra + missing + reversed        (structural Hamming distance; a reversed edge counts 1)
    TPR = correct / edges of the truth
    FDR = (reversed + extra) / edges of the estimate
    FPR = (reversed + extra) / pairs without an edge in the truth
    F1  = 2 · correct / (edges of the estimate + edges of the truth)

and a ratio whose denominator is zero is 0.0. (FPR can exceed 1 on a dense truth, because its numerator counts
reversed edges and its denominator does not; this is the definition used in the field.)

Against a true DAG an undirected edge of the estimate is correct where the truth has an edge in either
direction (Zheng et al. 2018, NOTEARS). Against a true CPDAG the marks must be the same. On skeletons all
directions are dropped. To compare CPDAGs, a DAG is replaced by that of its equivalence class.

Of two graphs in time (`lagged_graph`) the edges within a step and those from earlier steps are compared
apart, too. Time determines the directions of the latter, also in the classes; so only pairs of an earlier and
a present node count for their FPR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError
from dagora.base.notebook import NotebookView
from dagora.graph.cpdag import Graph, require_graph
from dagora.graph.dag import DAG, Edge
from dagora.graph.equivalence import cpdag_matrix
from dagora.graph.lagged_graph import LaggedGraph, class_in_time, split_name

if TYPE_CHECKING:
    from dagora.graph.adjustment_distances import AdjustmentDistances

Matrix = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Metrics:
    """Distances and rates, with the counts they come from; `wrong` is reversed + extra."""

    shd: int
    tpr: float
    fdr: float
    fpr: float
    f1: float
    correct: int
    wrong: int
    reversed: int
    extra: int
    missing: int

    def to_dict(self) -> dict[str, float]:
        """JSON form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Comparison(NotebookView):
    """An estimate compared three times: as it is, by its skeleton, and by its equivalence class.

    `raw` compares it as it was before edges were dropped to make it acyclic, if that is known; `within` and
    `lagged` compare the edges within a step and from earlier steps of a graph in time. `graphs` are the
    estimate and the truth, for pictures of them.

    >>> comparison = compare(DAG("ab", [("b", "a")]), DAG("ab", [("a", "b")]))
    >>> comparison.shd, comparison.dag.reversed, comparison.cpdag.f1, comparison.to_dict()["skeleton"]["tpr"]
    (1, 1, 1.0, 1.0)
    """

    dag: Metrics
    skeleton: Metrics
    cpdag: Metrics
    raw: Metrics | None = None
    within: Metrics | None = None
    lagged: Metrics | None = None
    graphs: tuple[Graph, Graph] | None = field(default=None, repr=False, compare=False)

    @property
    def shd(self) -> int:
        """Structural Hamming distance of the graphs as they are."""
        return self.dag.shd

    def adjustment_distances(self, seed: int = 0) -> AdjustmentDistances | None:
        """The numbers of effects that the estimate, and random graphs of its size, get wrong.

        None for graphs in time, and where a graph is neither a DAG nor the CPDAG of one.

        >>> truth = DAG("abc", [("a", "b"), ("b", "c")])
        >>> compare(DAG("abc", [("b", "a"), ("b", "c")]), truth).adjustment_distances().sid
        3
        """
        from dagora.graph.adjustment_distances import adjustment_distances

        if self.graphs is None or self.within is not None:
            return None
        return adjustment_distances(*self.graphs, seed=seed)

    def to_dict(self) -> dict[str, float | dict[str, float]]:
        """JSON form: the graphs' own metrics at the top, the others under "skeleton", "cpdag" and "raw"."""
        others = {"raw": self.raw, "within": self.within, "lagged": self.lagged}
        return {
            **self.dag.to_dict(),
            "skeleton": self.skeleton.to_dict(),
            "cpdag": self.cpdag.to_dict(),
            **{name: metrics.to_dict() for name, metrics in others.items() if metrics is not None},
        }

    def rows(self) -> tuple[tuple[str, Metrics], ...]:
        """All metrics with the name of what was compared, as a table shows them.

        >>> truth = DAG("abc", [("a", "b"), ("b", "c")])
        >>> [(name, metrics.shd) for name, metrics in compare(DAG("abc", [("b", "a")]), truth).rows()]
        [('DAG', 2), ('CPDAG', 1), ('skeleton', 1)]
        """
        raw = () if self.raw is None else (("uncut", self.raw),)
        return (
            ("DAG", self.dag),
            *raw,
            *((("within", self.within),) if self.within is not None else ()),
            *((("lagged", self.lagged),) if self.lagged is not None else ()),
            ("CPDAG", self.cpdag),
            ("skeleton", self.skeleton),
        )


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The verdict on each pair of nodes: four symmetric matrices, True where the pair got that verdict."""

    correct: Matrix
    reversed: Matrix
    extra: Matrix
    missing: Matrix

    def __iter__(self) -> Iterator[Matrix]:
        return iter((self.correct, self.reversed, self.extra, self.missing))

    def of_edge(self, i: int, j: int) -> Literal["correct", "reversed", "extra"]:
        """The verdict on an edge of the estimate."""
        return "correct" if self.correct[i, j] else "reversed" if self.reversed[i, j] else "extra"


def compare(estimate: Graph, truth: Graph, dropped: Iterable[Edge] | None = None) -> Comparison:
    """Compare an estimate with the truth; nodes are matched by name.

    `dropped` are edges that were removed from the estimate to break cycles: with them it is also compared as
    it was before (`raw`). A pair with edges both ways then counts as reversed where the truth has an edge.

    >>> truth = DAG("abc", [("a", "b"), ("b", "c")])
    >>> comparison = compare(DAG("abc", [("b", "a"), ("b", "c")]), truth)
    >>> comparison.dag.shd, comparison.skeleton.shd, comparison.cpdag.shd
    (1, 0, 0)
    >>> comparison.dag.tpr, comparison.dag.fdr
    (0.5, 0.5)
    >>> compare(truth, truth, dropped=[("c", "a")]).raw.shd
    1
    """
    aligned = align(estimate, truth)
    marks, true_marks = aligned.to_numpy(), truth.to_numpy()
    in_time, true_in_time = LaggedGraph.of_window(aligned), LaggedGraph.of_window(truth)
    if in_time is not None and true_in_time is not None:
        return _compare_in_time(aligned, truth, in_time, true_in_time)
    class_marks = cpdag_matrix(marks) if isinstance(aligned, DAG) else marks
    true_class = cpdag_matrix(true_marks) if isinstance(truth, DAG) else true_marks
    return Comparison(
        dag=measure(classify_edges(aligned, truth)),
        skeleton=measure(_classify(marks | marks.T, true_marks | true_marks.T)),
        cpdag=measure(_classify(class_marks, true_class)),
        raw=None if dropped is None else measure(_classify(_with_edges(aligned, dropped), true_marks)),
        graphs=(aligned, truth),
    )


def _compare_in_time(
    estimate: Graph, truth: Graph, in_time: LaggedGraph, true_in_time: LaggedGraph
) -> Comparison:
    """Compare two graphs in time, whose windows have the same nodes in the same order."""
    marks, true_marks = estimate.to_numpy(), truth.to_numpy()
    classes = [class_in_time(graph.window, graph.variables) for graph in (in_time, true_in_time)]
    ours, theirs = (found.reorder(truth.nodes).to_numpy() for found in classes)
    within = compare(in_time.within, true_in_time.within).dag
    present = np.array([not split_name(node)[1] for node in truth.nodes])
    rows, columns = np.flatnonzero(~present), np.flatnonzero(present)
    found, true = marks[np.ix_(rows, columns)], true_marks[np.ix_(rows, columns)]
    return Comparison(
        dag=measure(classify_edges(estimate, truth)),
        skeleton=measure(_classify(marks | marks.T, true_marks | true_marks.T)),
        cpdag=measure(_classify(ours, theirs)),
        within=within,
        lagged=_metrics(
            int((found & true).sum()), 0, int((found & ~true).sum()), int((true & ~found).sum()), found.size
        ),
        graphs=(estimate, truth),
    )


def classify_edges(estimate: Graph, truth: Graph) -> Verdicts:
    """Classify each pair of nodes by the rules at the top of this module; rows follow the truth's nodes."""
    marks, true_marks = align(estimate, truth).to_numpy(), truth.to_numpy()
    if isinstance(truth, DAG):
        undecided = marks & marks.T
        marks = np.where(undecided & (true_marks | true_marks.T), true_marks, marks)
    return _classify(marks, true_marks)


def align(estimate: Graph, truth: Graph) -> Graph:
    """Put the estimate's nodes in the order of the truth's; both must have the same names."""
    require_graph(estimate, "the estimate")
    require_graph(truth, "the truth")
    align_names(estimate.nodes, truth.nodes)
    return estimate if estimate.nodes == truth.nodes else estimate.reorder(truth.nodes)


def align_names(estimated: Sequence[str], true: Sequence[str]) -> None:
    """Refuse an estimate and a truth over other nodes."""
    found, known = set(estimated), set(true)
    for name in true:
        if name not in found:
            raise GraphError(
                f"'{name}' is a node of the truth but not of the estimate: both need the same nodes"
            )
    for name in estimated:
        if name not in known:
            raise GraphError(
                f"'{name}' is a node of the estimate but not of the truth: both need the same nodes"
            )


def _with_edges(graph: Graph, edges: Iterable[Edge]) -> Matrix:
    marks = graph.to_numpy()
    for tail, head in edges:
        marks[graph.index(tail), graph.index(head)] = True
    return marks


def _classify(marks: Matrix, true_marks: Matrix) -> Verdicts:
    edge, true_edge = marks | marks.T, true_marks | true_marks.T
    same = (marks == true_marks) & (marks == true_marks).T
    return verdicts_of(edge, true_edge, same)


def verdicts_of(edge: Matrix, true_edge: Matrix, same: Matrix) -> Verdicts:
    """Classify each pair, from where there are edges and where they have the same marks."""
    shared = edge & true_edge
    return Verdicts(shared & same, shared & ~same, edge & ~true_edge, true_edge & ~edge)


def measure(verdicts: Verdicts) -> Metrics:
    """Distances and rates of some verdicts."""
    correct, swapped, extra, missing = (int(verdict.sum()) // 2 for verdict in verdicts)
    size = len(verdicts.correct)
    return _metrics(correct, swapped, extra, missing, size * (size - 1) // 2)


def _metrics(correct: int, swapped: int, extra: int, missing: int, pairs: int) -> Metrics:
    predicted = correct + swapped + extra
    actual = correct + swapped + missing
    absent = pairs - actual
    wrong = swapped + extra
    return Metrics(
        shd=extra + missing + swapped,
        tpr=_ratio(correct, actual),
        fdr=_ratio(wrong, predicted),
        fpr=_ratio(wrong, absent),
        f1=_ratio(2 * correct, predicted + actual),
        correct=correct,
        wrong=wrong,
        reversed=swapped,
        extra=extra,
        missing=missing,
    )


def _ratio(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else 0.0
