"""Baselines without joint learning: each site learns from its own rows, and the results are merged.

- `vote`: the edges that more than half of the sites have (Na & Yang 2010), by NOTEARS or, with graphs
  instead of weights, by PC or a search (`voted_graph`);
- `average`: the mean of the sites' weights, with the threshold applied to the mean;
- `best`: the graph of the site with the fewest errors, which can only be chosen if the truth is known.

These are the baselines of Ng & Zhang (2022). A site centres its rows on its own mean and divides by its own
number of rows; fewer rows than columns are enough. Vote and average can have cycles, which `tally` and
`mean_weights` keep; the learners drop the weakest edges that close one and list them.

Nothing here is secret: the coordinator sees the weights or the graph that every site learned. Weights reveal
much about its rows (a few rows can nearly be reconstructed from them). Every result says so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.events import Event
from dagora.base.options import find
from dagora.graph.cpdag import Graph
from dagora.graph.dag import DAG
from dagora.graph.metrics import compare
from dagora.learners.optimise.acyclic_support import acyclic_support, refuse_parent_limit
from dagora.learners.result import Outcome
from dagora.learners.run import Run
from dagora.parties.horizontal.checked_fields import check_names, choice, real, shown_reals
from dagora.parties.horizontal.learners.site_alone import circumstances, ending, read_run
from dagora.parties.horizontal.learners.voted_graph import vote_on_graphs
from dagora.parties.horizontal.plan.plan import WEIGHT_MODELS
from dagora.parties.horizontal.session.federation import Answer, Federation, Question, Site
from dagora.parties.horizontal.statistics.columns import continuous_columns
from dagora.scores.usable_moments import refuse_unusable

Vector = NDArray[np.float64]

FIELDS = ("model", "lambda1", "threshold", "knowledge", "seconds", "seed")
# The most that a coordinator may ask a site for: larger numbers mean nothing, or overflow.
LARGEST_PENALTY = 1e100
SHOWN = "the weights that every site learned from its own rows were shown to the coordinator"


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
    return merged(names, run, share, 0.5 + 0.25 / len(learned), mean_weights(learned))


def average(
    federation: Federation,
    run: Run,
    *,
    lambda1: float = 0.01,
    threshold: float = 0.3,
    model: str = "linear",
) -> Outcome:
    """Average the sites' weights and apply the threshold to the mean, not to each site's weights."""
    names, learned = ask_weights(federation, run, "average", lambda1, 0.0, model)
    mean = mean_weights(learned)
    return merged(names, run, mean, threshold, mean)


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
    status, message = ending(run, f"the graph of site '{federation.parties[chosen]}', closest to the truth")
    stats = {"sites": float(len(learned)), "shd": float(distances[chosen])}
    return Outcome(graphs[chosen], status, message, None, stats, learned[chosen], (SHOWN,))


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


def merged(names: tuple[str, ...], run: Run, strength: Vector, threshold: float, weights: Vector) -> Outcome:
    """Reduce the merged strengths to a DAG, and report the edges dropped because of cycles."""
    required = run.knowledge.required_matrix(names)
    raw = (np.abs(strength) >= threshold) & (strength != 0)
    support, dropped = acyclic_support(strength, threshold, required)
    warnings = [SHOWN]
    if dropped:
        edges = [f"'{names[i]} → {names[j]}' ({strength[i, j]:.3g})" for i, j in dropped]
        warnings.append(f"dropped to reach a DAG: {', '.join(edges)}")
    status, message = ending(run, "the sites' results were merged")
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
    refuse_parent_limit(run.knowledge, method)
    find("model", model, dict.fromkeys(WEIGHT_MODELS))
    schema = federation.schema
    refuse_discrete(schema.names, [not variable.levels for variable in schema], method)
    run.knowledge.check_nodes(schema.names)
    run.on_event(Event("every site learns on its own", 0, total=1))
    question: Question = {
        "model": model,
        "lambda1": float(lambda1),
        "threshold": float(threshold),
        **circumstances(federation, run),
    }
    shown = federation.gather("local-weights", question)
    run.on_event(Event("every site learns on its own", 1, total=1))
    d = len(schema)
    return schema.names, np.stack(list(shown_reals(shown, "weights", (d, d)).values()))


def refuse_discrete(names: tuple[str, ...], continuous: list[bool], method: str) -> None:
    """Refuse columns that a linear model cannot take."""
    for name, fits in zip(names, continuous, strict=True):
        if not fits:
            raise DataError(
                f"the method {method} needs continuous columns, but '{name}' is discrete: "
                "declare it continuous if it is a number, or leave it out"
            )


def local_weights(site: Site, question: Question) -> Answer:
    """Task `local-weights`: learn from this site's rows alone; the weights are acyclic."""
    task = "local-weights"
    check_names(task, question, FIELDS)
    model = choice(task, question, "model", WEIGHT_MODELS)
    lambda1 = real(task, question, "lambda1", high=LARGEST_PENALTY)
    threshold = real(task, question, "threshold")
    run = read_run(task, question, site.table.names)
    if model == "mlp":
        from dagora.learners.optimise.mlp.notears_mlp import notears_mlp
        from dagora.stats.table import TableStatistics

        outcome = notears_mlp(TableStatistics(site.table), run, lambda1=lambda1, threshold=threshold)
        return {"weights": outcome.weights}
    return {"weights": learn_linear(site, run, lambda1, threshold)}


def learn_linear(site: Site, run: Run, lambda1: float, threshold: float) -> Vector:
    """NOTEARS by the path solver, on the second moments of this site's rows, however few they are."""
    from dagora.learners.optimise.path.path_solver import solve_by_path
    from dagora.learners.optimise.path.smooth_path import PathProgram

    names = site.table.names
    columns = continuous_columns(site.table)
    columns = columns - columns.mean(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        covariance = np.ascontiguousarray(columns @ columns.T / columns.shape[1])
    # A column may be constant at one site; only the others must have a usable variance.
    varying = columns.any(axis=1)
    varied = [name for name, varies in zip(names, varying, strict=True) if varies]
    refuse_unusable(varied, np.zeros(len(varied)), np.diag(covariance)[varying], "NOTEARS")
    program = PathProgram(
        covariance,
        lambda1,
        ~run.knowledge.forbidden_matrix(names),
        run.knowledge.required_matrix(names),
    )
    return solve_by_path(program, run, threshold, "guarded", 0).weights
