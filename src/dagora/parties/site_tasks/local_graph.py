"""Task `local-graph`: a site learns a graph from its own rows, by any method for one table, and shows it.

The answer is a matrix of marks: [i, j] alone is i → j, with [j, i] it is i — j. A site that cannot learn says
so and marks nothing: it has too few rows, columns that are copies of each other, or no time to end its tests.
Numbers that never change at a site have no edges there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dagora.base.errors import DataError, KnowledgeError
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.knowledge import Knowledge
from dagora.learners.entries.sites import VOTERS
from dagora.learners.one_run import Searching
from dagora.learners.registry import method_named
from dagora.learners.result import Outcome
from dagora.learners.run import Run
from dagora.learners.source import Source
from dagora.parties.horizontal.checked_fields import check_names, real, refuse
from dagora.parties.horizontal.learners.site_alone import read_run
from dagora.parties.horizontal.learners.voted_graph import TASK, Marks, check_directions
from dagora.parties.horizontal.session.federation import Answer, Question, Site
from dagora.scores.registry import default_score
from dagora.stats.table import TableStatistics

FIELDS = ("model", "alpha", "knowledge", "seconds", "seed")
BELOW_1 = 1 - 2.0**-53


def local_graph(site: Site, question: Question) -> Answer:
    """Learn from this site's rows alone."""
    check_names(TASK, question, FIELDS)
    model = question["model"]
    if type(model) is not str or model not in VOTERS:
        raise refuse(TASK, "'model' must be a method that learns a graph from one table")
    alpha = real(TASK, question, "alpha", high=BELOW_1, open_low=True)
    run = read_run(TASK, question, site.table.names)
    try:
        check_directions(model, run.knowledge, site.table.names)
        marks = learned_marks(site.table, model, alpha, run)
    except KnowledgeError:
        raise refuse(TASK, f"'knowledge' is not for the model {model}") from None
    nothing = np.zeros((len(site.table.names),) * 2, dtype=np.bool_)
    return {"graph": nothing if marks is None else marks, "learned": np.array([marks is not None])}


def learned_marks(table: Table, model: str, alpha: float, run: Run) -> Marks | None:
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
        outcome = learn_graph(table.select(kept), model, alpha, replace(run, knowledge=about(run, kept)))
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
    local = None if score is None else searching.make(statistics)
    return searching.once(Source(statistics), local, run)[0]


def about(run: Run, names: tuple[str, ...]) -> Knowledge:
    """What is known about some of the columns.

    >>> about(Run(Knowledge(required=[("a", "b"), ("b", "c")], tiers=[["a"], ["b", "c"]])), ("b", "c"))
    Knowledge(required=(('b', 'c'),), forbidden=(), tiers=((), ('b', 'c')), max_parents=None)
    """
    known = run.knowledge
    return Knowledge(
        required=tuple(edge for edge in known.required if set(edge) <= set(names)),
        forbidden=tuple(edge for edge in known.forbidden if set(edge) <= set(names)),
        tiers=tuple(tuple(name for name in tier if name in names) for tier in known.tiers),
    )
