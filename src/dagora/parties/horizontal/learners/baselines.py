"""Baselines without joint learning: each site learns from its own rows, and the results are merged.

- `vote`: the edges that more than half of the sites have (Na & Yang 2010), by NOTEARS or, with graphs
  instead of weights, by PC or a search;
- `average`: the mean of the sites' weights, with the threshold applied to the mean;
- `best`: the graph of the site with the fewest errors, which can only be chosen if the truth is known.

These are the baselines of Ng & Zhang (2022). A site centres its rows on its own mean and divides by its own
number of rows; fewer rows than columns are enough. Vote and average can have cycles, which `tally` and
`mean_weights` keep; the learners drop the weakest edges that close one and list them.

Nothing here is secret: the coordinator sees the weights or the graph that every site learned. Weights reveal
much about its rows (a few rows can nearly be reconstructed from them). Every result says so.

Votes on graphs: a mark stays if more than half of the sites have it (Na & Yang 2010; Ng & Zhang 2022 with PC
and FGES): a pair marked both ways is then undirected. A site that could not learn votes for no edge. The
voted graph may have cycles and undirected edges; `raw_weights` of the result are the shares of the votes, and
their `majority` is that graph. The DAG made from it loses the edges of fewest votes that close a cycle. Then
its undirected edges are given directions that make no v-structure that was not voted for, if there are such;
else each is given the direction of more sites, or that of the names' order, unless it would close a cycle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError, ProtocolError
from dagora.base.events import Event
from dagora.base.options import find
from dagora.graph.cpdag import Graph
from dagora.graph.dag import DAG
from dagora.graph.equivalence import consistent_extension
from dagora.graph.metrics import compare
from dagora.learners.entries.sites import VOTERS
from dagora.learners.optimise.acyclic_support import acyclic_support
from dagora.learners.outcome import Outcome
from dagora.learners.registry import method_named
from dagora.learners.run import Run
from dagora.parties.horizontal.learners.checked_fields import collect_reals, collect_truths
from dagora.parties.horizontal.learners.local_learning import GRAPH_TASK, run_fields, status_and_message
from dagora.parties.horizontal.plan.plan import WEIGHT_MODELS
from dagora.parties.horizontal.session.federation import Federation, TaskQuestion

Vector = NDArray[np.float64]
Marks = NDArray[np.bool_]

SHOWN_WEIGHTS = "the weights that every site learned from its own rows were shown to the coordinator"
SHOWN_GRAPHS = "the graph that every site learned from its own rows was shown to the coordinator"


def vote(
    federation: Federation,
    run: Run,
    *,
    lambda1: float = 0.01,
    threshold: float = 0.3,
    model: str = "linear",
    alpha: float = 0.01,
) -> Outcome:
    """Keep the edges that more than half of the sites have; weights are the means over all sites."""
    if model not in WEIGHT_MODELS:
        return vote_on_graphs(federation, run, model, alpha)
    names, learned = ask_weights(federation, run, "vote", lambda1, threshold, model)
    share = tally(learned)
    return merge_weights(names, run, share, 0.5 + 0.25 / len(learned), mean_weights(learned))


def average(
    federation: Federation, run: Run, *, lambda1: float = 0.01, threshold: float = 0.3, model: str = "linear"
) -> Outcome:
    """Average the sites' weights and apply the threshold to the mean, not to each site's weights."""
    names, learned = ask_weights(federation, run, "average", lambda1, 0.0, model)
    mean = mean_weights(learned)
    return merge_weights(names, run, mean, threshold, mean)


def best(
    federation: Federation,
    run: Run,
    *,
    lambda1: float = 0.01,
    threshold: float = 0.3,
    model: str = "linear",
    truth: Graph | None = None,
) -> Outcome:
    """Choose the graph of a site that is closest to the truth; of equally close ones, the first site's."""
    if truth is None:
        raise OptionError("the method best needs the truth to choose the best site's graph: give truth")
    names, learned = ask_weights(federation, run, "best", lambda1, threshold, model)
    required = run.knowledge.required_matrix(names)
    graphs = [DAG.from_numpy((weights != 0) | required, names) for weights in learned]
    distances = [compare(graph, truth).shd for graph in graphs]
    chosen = int(np.argmin(distances))
    status, message = status_and_message(
        run, f"the graph of site '{federation.parties[chosen]}', closest to the truth"
    )
    stats = {"sites": float(len(learned)), "shd": float(distances[chosen])}
    return Outcome(graphs[chosen], status, message, None, stats, learned[chosen], (SHOWN_WEIGHTS,))


def tally(learned: Vector) -> Vector:
    """Share of the sites that have an edge; `learned` has one matrix of weights per site.

    >>> tally(np.array([[[0.0, 2.0], [0.0, 0.0]], [[0.0, 0.5], [0.1, 0.0]]]))
    array([[0. , 1. ], [0.5, 0. ]])
    """
    share: Vector = (learned != 0).mean(axis=0)
    return share


def mean_weights(learned: Vector) -> Vector:
    """Mean over the sites, where an edge that a site does not have counts as 0.

    >>> mean_weights(np.array([[[0.0, 2.0], [0.0, 0.0]], [[0.0, 1.0], [0.5, 0.0]]]))
    array([[0.  , 1.5 ], [0.25, 0.  ]])
    """
    mean: Vector = learned.mean(axis=0)
    return mean


def merge_weights(
    names: tuple[str, ...], run: Run, strength: Vector, threshold: float, weights: Vector
) -> Outcome:
    """Reduce the merged strengths to a DAG, and report the edges dropped because of cycles."""
    required = run.knowledge.required_matrix(names)
    raw = (np.abs(strength) >= threshold) & (strength != 0)
    support, dropped = acyclic_support(strength, threshold, required)
    warnings = [SHOWN_WEIGHTS]
    if dropped:
        edges = [f"'{names[i]} → {names[j]}' ({strength[i, j]:.3g})" for i, j in dropped]
        warnings.append(f"dropped to reach a DAG: {', '.join(edges)}")
    status, message = status_and_message(run, "the sites' results were merged")
    stats = {"raw_edges": float(raw.sum()), "dropped_edges": float(len(dropped))}
    return Outcome(
        DAG.from_numpy(support, names),
        status,
        message,
        stats=stats,
        weights=np.where(support, weights, 0.0),
        warnings=tuple(warnings),
        dropped=tuple((names[i], names[j]) for i, j in dropped),
    )


def ask_weights(
    federation: Federation, run: Run, method: str, lambda1: float, threshold: float, model: str
) -> tuple[tuple[str, ...], Vector]:
    """Names of the columns, and the weights that each site learned, in the order of the sites' names."""
    find("model", model, dict.fromkeys(WEIGHT_MODELS))
    schema = federation.schema
    refuse_discrete(schema.names, [not variable.levels for variable in schema], method)
    run.knowledge.check_nodes(schema.names)
    run.on_event(Event("every site learns on its own", 0, total=1))
    question: TaskQuestion = {
        "model": model,
        "lambda1": float(lambda1),
        "threshold": float(threshold),
        **run_fields(federation, run),
    }
    shown = federation.gather("local-weights", question)
    run.on_event(Event("every site learns on its own", 1, total=1))
    d = len(schema)
    return schema.names, np.stack(list(collect_reals(shown, "weights", (d, d)).values()))


def refuse_discrete(names: tuple[str, ...], continuous: list[bool], method: str) -> None:
    """Refuse columns that a linear model cannot take."""
    for name, fits in zip(names, continuous, strict=True):
        if not fits:
            raise DataError(
                f"the method {method} needs continuous columns, but '{name}' is discrete: "
                "declare it continuous if it is a number, or leave it out"
            )


def vote_on_graphs(federation: Federation, run: Run, model: str, alpha: float) -> Outcome:
    """Ask every site for its graph, and keep the marks that more than half of the sites have."""
    names = federation.schema.names
    if not 0 < alpha < 1:
        raise OptionError(f"option 'alpha' must lie between 0 and 1, not {alpha}")
    run.knowledge.check_nodes(names)
    if model in VOTERS:  # the sites refuse any other
        method_named(model).check_knowledge(run.knowledge, names, f"the model {model}")
    run.on_event(Event("every site learns on its own", 0, total=1))
    shown = federation.gather(GRAPH_TASK, {"model": model, "alpha": alpha, **run_fields(federation, run)})
    run.on_event(Event("every site learns on its own", 1, total=1))
    graphs = collect_truths(shown, "graph", (len(names), len(names)))
    for party, graph in graphs.items():
        if graph.diagonal().any():
            raise ProtocolError(f"{party} answered with an edge from a column to itself", party=party)
    learned = [bool(value[0]) for value in collect_truths(shown, "learned", (1,)).values()]
    share: Vector = np.stack(list(graphs.values())).mean(axis=0)
    return count_votes(names, run, share, len(learned), learned.count(False))


def majority(share: Vector) -> Marks:
    """The marks that more than half of the sites have.

    >>> majority(np.array([[0.0, 0.6], [0.5, 0.0]])).tolist()
    [[False, True], [False, False]]
    """
    marks: Marks = share > 0.5
    return marks


def count_votes(names: tuple[str, ...], run: Run, share: Vector, sites: int, silent: int) -> Outcome:
    """The outcome of a vote: a DAG, and a message on the changes to the voted marks."""
    required = run.knowledge.required_matrix(names)
    marks = (majority(share) | required) & ~required.T
    undirected = int(np.triu(marks & marks.T).sum())
    by_name = np.argsort(names)
    square = np.ix_(by_name, by_name)
    support, dropped, kept = dag_from_marks(share[square], marks[square], required[square])
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
    status, message = status_and_message(run, message)
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


def dag_from_marks(share: Vector, marks: Marks, required: Marks) -> tuple[Marks, list[tuple[int, int]], bool]:
    """A DAG from voted marks, the edges dropped for it, and whether its v-structures are all voted for.

    >>> marks = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]], dtype=bool)
    >>> dag, dropped, kept = dag_from_marks(marks.astype(float), marks, np.zeros_like(marks))
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
