"""Distance of an estimated PAG from the truth: its edges, and the marks at their ends.

Edges are classified as in `dagora.graph.metrics`: correct if both marks are those of the truth, reversed if
only the skeleton is right, extra, or missing. Of the marks at the ends of edges that both graphs have, those
of the estimate are *right* (the same), *open* (a circle where the truth has a mark) or *wrong* (a mark that
the truth does not have).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np

from dagora.base.errors import GraphError
from dagora.base.notebook import NotebookView
from dagora.graph.ancestral.pag import PAG
from dagora.graph.ancestral.true_pag import true_pag
from dagora.graph.cpdag import CPDAG, require_graph
from dagora.graph.dag import DAG
from dagora.graph.edge_marks import CIRCLE, NONE
from dagora.graph.metrics import Metrics, Verdicts, align_names, measure, verdicts_of


@dataclass(frozen=True, slots=True)
class MarkCounts:
    """Marks of edges that both graphs have."""

    right: int
    open: int
    wrong: int

    def to_dict(self) -> dict[str, int]:
        """JSON form."""
        return asdict(self)

    def describe(self) -> str:
        """In words.

        >>> MarkCounts(3, 1, 0).describe()
        'marks of shared edges: 3 right, 1 left open, 0 wrong'
        """
        return f"marks of shared edges: {self.right} right, {self.open} left open, {self.wrong} wrong"


@dataclass(frozen=True, slots=True)
class PAGComparison(NotebookView):
    """A PAG compared by its edges, its skeleton, and its marks; `graphs` are the estimate and the truth."""

    pag: Metrics
    skeleton: Metrics
    marks: MarkCounts
    graphs: tuple[PAG, PAG] | None = field(default=None, repr=False, compare=False)

    @property
    def shd(self) -> int:
        """Structural Hamming distance: pairs that are not joined as in the truth, or by other marks."""
        return self.pag.shd

    def to_dict(self) -> dict[str, float | dict[str, float]]:
        """JSON form: the metrics of edges with their marks at the top."""
        return {
            **self.pag.to_dict(),
            "skeleton": self.skeleton.to_dict(),
            "marks": dict(self.marks.to_dict()),
        }

    def rows(self) -> tuple[tuple[str, Metrics], ...]:
        """All metrics with the name of what was compared, as a table shows them."""
        return (("PAG", self.pag), ("skeleton", self.skeleton))


def compare_pags(estimate: object, truth: object) -> PAGComparison:
    """Compare an estimate with a true PAG, or with the PAG of a true DAG."""
    found, known = both_pags(estimate, truth)
    marks, true_marks = found.to_numpy(), known.to_numpy()
    shared = (marks != NONE) & (true_marks != NONE)
    same = marks == true_marks
    left_open = shared & ~same & (marks == CIRCLE)
    return PAGComparison(
        pag=measure(classify_pag_edges(found, known)),
        skeleton=measure(verdicts_of(marks != NONE, true_marks != NONE, np.ones_like(same))),
        marks=MarkCounts(
            int((shared & same).sum()), int(left_open.sum()), int((shared & ~same & ~left_open).sum())
        ),
        graphs=(found, known),
    )


def both_pags(estimate: object, truth: object) -> tuple[PAG, PAG]:
    """Both graphs as PAGs over the same nodes; a true DAG may have nodes more, which are hidden."""
    if not isinstance(estimate, PAG):
        kind = type(require_graph(estimate, "the estimate")).__name__
        raise GraphError(f"a true PAG can be compared with a PAG only, and the estimate is a {kind}")
    if isinstance(truth, CPDAG):
        raise GraphError(
            "a PAG can be compared with a PAG or a DAG, and the truth is a CPDAG: name a DAG of its class"
        )
    if not isinstance(truth, DAG | PAG):
        require_graph(truth, "the truth")
    known = truth
    if isinstance(truth, DAG):
        known = true_pag(truth, [name for name in truth.nodes if name not in set(estimate.nodes)])
    assert isinstance(known, PAG)
    align_names(estimate.nodes, known.nodes)
    return estimate.reorder(known.nodes), known


def classify_pag_edges(estimate: PAG, truth: PAG) -> Verdicts:
    """Classify each pair of nodes; both graphs have them in the same order."""
    marks, true_marks = estimate.to_numpy(), truth.to_numpy()
    same = (marks == true_marks) & (marks == true_marks).T
    return verdicts_of(marks != NONE, true_marks != NONE, same)
