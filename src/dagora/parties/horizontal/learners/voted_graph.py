"""Votes on graphs: each site learns one from its own rows, and the marks that most sites have are kept.

A mark stays if more than half of the sites have it (Na & Yang 2010; Ng & Zhang 2022 with PC and FGES): a pair
marked both ways is then undirected. A site that could not learn votes for no edge. The voted graph may have
cycles and undirected edges; `raw_weights` of the result are the shares of the votes, and their `majority` is
that graph. The DAG made from it loses the edges of fewest votes that close a cycle. Then its undirected edges
are given directions that make no v-structure that was not voted for, if there are such; else each is given
the direction of more sites, or that of the names' order, unless it would close a cycle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import KnowledgeError, OptionError, ProtocolError
from dagora.base.events import Event
from dagora.base.wording import option
from dagora.graph.dag import DAG
from dagora.graph.equivalence import consistent_extension
from dagora.graph.knowledge import Knowledge
from dagora.learners.optimise.acyclic_support import acyclic_support
from dagora.learners.result import Outcome
from dagora.learners.run import Run
from dagora.parties.horizontal.checked_fields import shown_truths
from dagora.parties.horizontal.learners.site_alone import circumstances, ending
from dagora.parties.horizontal.session.federation import Federation

Vector = NDArray[np.float64]
Marks = NDArray[np.bool_]

TASK = "local-graph"

SHOWN_GRAPHS = "the graph that every site learned from its own rows was shown to the coordinator"


def vote_on_graphs(federation: Federation, run: Run, model: str, alpha: float) -> Outcome:
    """Ask every site for its graph, and keep the marks that more than half of the sites have."""
    names = federation.schema.names
    if not 0 < alpha < 1:
        raise OptionError(f"option 'alpha' must lie between 0 and 1, not {alpha}")
    if run.knowledge.max_parents is not None:
        raise KnowledgeError(
            f"the method vote cannot obey {option('max_parents')}: votes are on edges: leave it out"
        )
    run.knowledge.check_nodes(names)
    check_directions(model, run.knowledge, names)
    run.on_event(Event("every site learns on its own", 0, total=1))
    shown = federation.gather(TASK, {"model": model, "alpha": alpha, **circumstances(federation, run)})
    run.on_event(Event("every site learns on its own", 1, total=1))
    graphs = shown_truths(shown, "graph", (len(names), len(names)))
    for party, graph in graphs.items():
        if graph.diagonal().any():
            raise ProtocolError(f"{party} answered with an edge from a column to itself", party=party)
    learned = [bool(value[0]) for value in shown_truths(shown, "learned", (1,)).values()]
    share: Vector = np.stack(list(graphs.values())).mean(axis=0)
    return counted(names, run, share, len(learned), learned.count(False))


def check_directions(model: str, knowledge: Knowledge, names: tuple[str, ...]) -> None:
    """Refuse knowledge about directions to a model that learns none."""
    if model == "ges":
        knowledge.forbidden_pairs(names, "the model ges")


def majority(share: Vector) -> Marks:
    """The marks that more than half of the sites have.

    >>> majority(np.array([[0.0, 0.6], [0.5, 0.0]])).tolist()
    [[False, True], [False, False]]
    """
    marks: Marks = share > 0.5
    return marks


def counted(names: tuple[str, ...], run: Run, share: Vector, sites: int, silent: int) -> Outcome:
    """The outcome of a vote: a DAG, and in words what became of the marks on the way to it."""
    required = run.knowledge.required_matrix(names)
    marks = (majority(share) | required) & ~required.T
    undirected = int(np.triu(marks & marks.T).sum())
    by_name = np.argsort(names)
    square = np.ix_(by_name, by_name)
    support, dropped, kept = as_dag(share[square], marks[square], required[square])
    ordered = [names[place] for place in by_name]
    lost = [(ordered[i], ordered[j]) for i, j in dropped]
    warnings = [SHOWN_GRAPHS]
    if silent:
        warnings.append(
            f"{silent} of {sites} sites voted for no edge: they could not learn a graph from their rows, or "
            "not in time"
        )
    if lost:
        edges = [f"'{a} → {b}' ({share[names.index(a), names.index(b)]:.3g})" for a, b in lost]
        warnings.append(f"dropped to reach a DAG: {', '.join(edges)}")
    message = "the sites' graphs were merged"
    if undirected:
        how = "without new v-structures" if kept else "that more sites had, with new v-structures"
        message += f"; undirected edges ({undirected}) were given directions {how}"
    status, message = ending(run, message)
    return Outcome(
        DAG.from_numpy(support, ordered).reorder(names),
        status,
        message,
        stats={
            "sites": float(sites),
            "sites_without_graph": float(silent),
            "raw_edges": float(np.triu(marks | marks.T).sum()),
            "undirected_edges": float(undirected),
            "dropped_edges": float(len(dropped)),
        },
        warnings=tuple(warnings),
        dropped=tuple(lost),
        raw_weights=share,
    )


def as_dag(share: Vector, marks: Marks, required: Marks) -> tuple[Marks, list[tuple[int, int]], bool]:
    """A DAG from voted marks, the edges dropped for it, and whether its v-structures are all voted for.

    >>> marks = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]], dtype=bool)
    >>> dag, dropped, kept = as_dag(marks.astype(float), marks, np.zeros_like(marks))
    >>> np.argwhere(dag).tolist(), dropped, kept
    ([[0, 2], [2, 1]], [], True)
    """
    either = marks & marks.T
    directed, dropped = acyclic_support(np.where(marks & ~either, share, 0.0), 0.0, required)
    extended = consistent_extension(directed | either)
    if extended is not None:
        return extended, dropped, True
    # The direction of more sites comes first, by how many more; if it closes a cycle, the other does not.
    strength = np.where(directed, 3.0, np.where(either, 2.0 + share - share.T, 0.0))
    return acyclic_support(strength, 0.0, required)[0], dropped, False
