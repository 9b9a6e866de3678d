"""Completions of a table with missing values, drawn as they may have been: multiple imputation.

For each completion, rows are drawn with replacement, the parameters of an imputing network are fitted to them
by EM, and the missing values of the table are drawn from it, jointly given what was seen in their row. So the
completions differ by what the missing values may be, and by how far the rows determine the network (Honaker &
King 2010). The imputing network has every edge where columns are numbers and rows are many; else those that a
greedy search finds with a low price of a parameter (AIC), as an edge that it lacks weakens what is drawn.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from dagora.base.errors import DataError
from dagora.base.events import ignore
from dagora.base.wording import option
from dagora.data.columns.missing_pattern import check_missing
from dagora.data.schema import Kind
from dagora.graph.cpdag import require_dag
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.learners.search.greedy.hill_climb import hill_climb
from dagora.network.incomplete.fitting import fit_with_missing_values
from dagora.network.incomplete.imputing import impute_table
from dagora.network.table_prior import ONE_ROW, TablePrior
from dagora.scores.registry import default_score
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

ROWS_A_COLUMN = 10
"""Rows for each column from which on every edge is in the imputing network of numbers."""


def imputing_graph(statistics: IncompleteStatistics, run: Run) -> DAG:
    """The graph of the network that completes a table."""
    schema, n = statistics.schema, statistics.n_rows
    names = schema.names
    if schema.kinds == {Kind.CONTINUOUS} and n >= ROWS_A_COLUMN * len(names):
        return DAG(names, list(combinations(names, 2)))
    score = default_score(schema).make(statistics, penalty=min(1.0, 2.0 / math.log(max(n, 3))))
    quiet = replace(run, on_event=ignore, knowledge=Knowledge())
    return require_dag(hill_climb(score, quiet).graph)


def graph_to_impute(statistics: Statistics, run: Run) -> DAG:
    """The same, where cells are missing; complete rows, and rows that are not here, are refused."""
    if isinstance(statistics, IncompleteStatistics):
        return imputing_graph(statistics, run)
    raise DataError(
        "no cell is missing, so there is nothing to draw: leave multiple imputation out, or take "
        f"{option('bootstrap', 200)} for samples of the rows"
    )


def completed(
    statistics: IncompleteStatistics, graph: DAG, random: np.random.Generator, seed: int
) -> Statistics:
    """One completion of a table."""
    table = statistics.table
    drawn = table.take(random.integers(0, table.n_rows, table.n_rows))
    check_missing(table.names, drawn.seen)
    network = fit_with_missing_values(
        graph,
        IncompleteStatistics(drawn),
        prior=TablePrior(ONE_ROW),
        name="imputing",
        seed=seed,
        directions=None,
    )
    return TableStatistics(impute_table(network, table, draws=1, seed=seed).draws[0])
