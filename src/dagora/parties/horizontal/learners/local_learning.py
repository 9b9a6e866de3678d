"""Tasks in which a site learns from its own rows alone, and shows what it learned: weights, or a graph.

A graph is answered as a matrix of marks: [i, j] alone is i → j, with [j, i] it is i — j. A site that cannot
learn one says so and marks nothing: it has too few rows, columns that are copies of each other, or no time to
end its tests. A continuous column that is constant at a site has no edges there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.base.errors import DagoraError, DataError, KnowledgeError
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.knowledge import Knowledge
from dagora.learners.entries.sites import VOTERS
from dagora.learners.one_run import Searching
from dagora.learners.outcome import Outcome
from dagora.learners.registry import method_named
from dagora.learners.run import Run
from dagora.learners.source import Source
from dagora.parties.horizontal.learners.checked_fields import check_names, choice, real, refuse, whole
from dagora.parties.horizontal.learners.columns import continuous_columns
from dagora.parties.horizontal.plan.plan import WEIGHT_MODELS
from dagora.parties.horizontal.session.federation import Answer, Federation, Site, TaskQuestion
from dagora.scores.registry import default_score
from dagora.scores.usable_moments import refuse_unusable
from dagora.stats.table import TableStatistics

Vector = NDArray[np.float64]
Marks = NDArray[np.bool_]

GRAPH_TASK = "local-graph"
GRAPH_FIELDS = ("model", "alpha", "knowledge", "seconds", "seed")
WEIGHT_FIELDS = ("model", "lambda1", "threshold", "knowledge", "seconds", "seed")
# A seed of 128 bits fills the pool of NumPy's SeedSequence; a penalty of 1e100 can be squared.
LARGEST_SEED = (1 << 128) - 1
LARGEST_PENALTY = 1e100
BELOW_1 = 1 - 2.0**-53  # the largest float below 1
NO_LIMIT = -1.0  # the `seconds` of a run without a time limit


def run_fields(federation: Federation, run: Run) -> TaskQuestion:
    """The fields of a question that `read_run` reads: knowledge, time and seed."""
    # Sites may share a machine, so each gets its share of the time.
    left = run.budget.left
    seconds = left / len(federation.parties) if np.isfinite(left) else NO_LIMIT
    return {"knowledge": run.knowledge.to_dict(), "seconds": seconds, "seed": run.seed}


def read_run(task: str, question: TaskQuestion, names: tuple[str, ...]) -> Run:
    """Knowledge, time and seed of a question, checked; `seconds` of −1 are no limit."""
    knowledge = read_knowledge(task, question["knowledge"], names)
    seconds = real(task, question, "seconds", low=NO_LIMIT)
    seed = whole(task, question, "seed", 0, LARGEST_SEED)
    return Run(knowledge, seed, Budget(None if seconds < 0 else seconds))


def read_knowledge(task: str, content: object, names: tuple[str, ...]) -> Knowledge:
    """Knowledge about the columns of this site that its learners can obey."""
    if not isinstance(content, dict):
        raise refuse(task, "'knowledge' must be a dict")
    try:
        knowledge = Knowledge.from_dict(content)
        knowledge.check_nodes(names)
        method_named("vote").check_knowledge(knowledge, names)
    except (DagoraError, TypeError, ValueError):
        raise refuse(task, "'knowledge' is not valid for the columns of this site") from None
    return knowledge


def status_and_message(run: Run, message: str) -> tuple[str, str]:
    """The status of a result, and a message that names the time limit if it was reached."""
    if run.budget.exhausted:
        return "time-limit", f"{message}; sites stopped early: {run.budget.reason}"
    return "finished", message


def local_weights(site: Site, question: TaskQuestion) -> Answer:
    """Task `local-weights`: learn from this site's rows alone; the weights are acyclic."""
    task = "local-weights"
    check_names(task, question, WEIGHT_FIELDS)
    model = choice(task, question, "model", WEIGHT_MODELS)
    lambda1 = real(task, question, "lambda1", high=LARGEST_PENALTY)
    threshold = real(task, question, "threshold")
    run = read_run(task, question, site.table.names)
    if model == "mlp":
        from dagora.learners.optimise.mlp.notears_mlp import notears_mlp

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
        covariance, lambda1, ~run.knowledge.forbidden_matrix(names), run.knowledge.required_matrix(names)
    )
    return solve_by_path(program, run, threshold, "guarded", 0).weights


def local_graph(site: Site, question: TaskQuestion) -> Answer:
    """Task `local-graph`: learn from this site's rows alone."""
    check_names(GRAPH_TASK, question, GRAPH_FIELDS)
    model = question["model"]
    if type(model) is not str or model not in VOTERS:
        raise refuse(GRAPH_TASK, "'model' must be a method that learns a graph from one table")
    alpha = real(GRAPH_TASK, question, "alpha", high=BELOW_1, open_low=True)
    run = read_run(GRAPH_TASK, question, site.table.names)
    try:
        method_named(model).check_knowledge(run.knowledge, site.table.names)
        marks = learn_marks(site.table, model, alpha, run)
    except KnowledgeError:
        raise refuse(GRAPH_TASK, f"'knowledge' is not for the model {model}") from None
    nothing = np.zeros((len(site.table.names),) * 2, dtype=np.bool_)
    return {"graph": nothing if marks is None else marks, "learned": np.array([marks is not None])}


def learn_marks(table: Table, model: str, alpha: float, run: Run) -> Marks | None:
    """The marks of a site's graph; None where it cannot learn one."""
    names = table.names
    kept = tuple(
        variable.name
        for variable, column in zip(table.schema, table.columns, strict=True)
        if variable.kind is Kind.DISCRETE or np.ptp(column) > 0
    )
    if table.n_rows < 2 or len(kept) < 2:
        return None
    try:
        restricted = replace(run, knowledge=restrict_knowledge(run.knowledge, kept))
        outcome = learn_graph(table.select(kept), model, alpha, restricted)
    except DataError:
        return None
    if outcome.status == "failed" or (method_named(model).by_tests and outcome.status == "time-limit"):
        # Pairs that are still to be tested are joined in a graph by tests.
        return None
    marks = np.zeros((len(names), len(names)), dtype=np.bool_)
    graph = outcome.plain_graph
    places = [names.index(name) for name in graph.nodes]
    marks[np.ix_(places, places)] = graph.to_numpy()
    return marks


def learn_graph(table: Table, model: str, alpha: float, run: Run) -> Outcome:
    """Run a method on a table; a search takes BIC for the columns at hand, tests take the level `alpha`."""
    method = method_named(model)
    method.check_width(len(table.names))
    score = None if method.own_objective else default_score(table.schema)
    options = {"alpha": alpha} if any(option.name == "alpha" for option in method.options) else {}
    searching = Searching(method, score, options, {})
    statistics = TableStatistics(table)
    local = None if score is None else searching.make(statistics, run.knowledge)
    return searching.once(Source(statistics), local, run)[0]


def restrict_knowledge(known: Knowledge, names: tuple[str, ...]) -> Knowledge:
    """The part of the knowledge that is about some of the columns, without the limit on parents.

    >>> known = Knowledge(required=[("a", "b"), ("b", "c")], tiers=[["a"], ["b", "c"]])
    >>> restrict_knowledge(known, ("b", "c"))
    Knowledge(required=(('b', 'c'),), forbidden=(), tiers=((), ('b', 'c')), max_parents=None)
    """
    return replace(known.among(names), max_parents=None)
