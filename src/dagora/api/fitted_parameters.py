"""Additions to a learned graph in files and reports: its parameters or why it has none, and its table.

They are fitted unasked only where that is quick: from rows in memory, and tables of a bounded size.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from dagora.base.wording import by_door, option
from dagora.network.table_prior import ONE_ROW, PseudoCount

if TYPE_CHECKING:
    from dagora.base.budget import Budget
    from dagora.data.incomplete import AnyTable
    from dagora.data.schema import Schema
    from dagora.graph.dag import DAG
    from dagora.learners.result import Result
    from dagora.network.gaussian_process.network import GaussianProcessNetwork
    from dagora.network.networks import Network
    from dagora.stats.statistics import Statistics

    Fitted = tuple[Network | None, str | None]

MOST_CELLS = 1_000_000  # larger tables are not fitted unasked
NO_TIME = "the time limit was reached before they were fitted; dagora.fit in Python fits them"


def fit_parameters(
    result: Result,
    statistics: Statistics | None,
    pseudocount: PseudoCount = ONE_ROW,
    budget: Budget | None = None,
) -> Fitted:
    """The network of a result with fitted parameters, or the reason why it has none, for a door to write."""
    from dagora.api.fit import fit
    from dagora.base.budget import OutOfTimeError
    from dagora.graph.ancestral.pag import PAG
    from dagora.graph.dag import DAG
    from dagora.graph.lagged_graph import LaggedGraph
    from dagora.learners.rows_to_fit import graph_and_directions
    from dagora.network.incomplete.fitting import fit_with_missing_values
    from dagora.network.table_prior import TablePrior
    from dagora.stats.designed import DesignStatistics
    from dagora.stats.given_counts import GivenCounts
    from dagora.stats.observed.statistics import IncompleteStatistics
    from dagora.stats.stored.stored_statistics import StoredStatistics
    from dagora.stats.table import TableStatistics

    graph = result.graph
    if statistics is None:
        return None, "there are no rows to fit them to"
    if isinstance(graph, PAG):
        return None, "a PAG allows for hidden causes, which have no parameters"
    if LaggedGraph.of_window(graph) is not None:
        instead = "its weights instead" if result.weights is not None else "none here"
        fits = by_door(python="dagora.fit with a time fits them", command="`dagora forecast` fits them")
        return None, f"a graph in time has {instead}; {fits}"
    if not isinstance(graph, DAG):
        return None, "a CPDAG stands for many networks; choose one, such as its extension(), and fit that"
    sums = DesignStatistics | GivenCounts | StoredStatistics
    if not isinstance(statistics, TableStatistics | IncompleteStatistics | sums):
        return None, reason_without_fit(statistics)
    if isinstance(statistics, StoredStatistics) and len(statistics.schema.kinds) > 1:
        return None, "columns of both kinds need the rows for them, and statistics have none"
    if not few_enough(graph, statistics.schema):
        writes = by_door(python="dagora.fit makes them", command="-o network.bif writes them")
        return None, f"the tables have more than {MOST_CELLS:,} entries; {writes}"
    if budget is not None and budget.exhausted:
        return None, NO_TIME
    if not isinstance(statistics, IncompleteStatistics):
        return fit(result, statistics, pseudocount=pseudocount, name="learned"), None
    dag, directions = graph_and_directions(result)
    prior = TablePrior(pseudocount)
    try:
        return fit_with_missing_values(
            dag, statistics, prior=prior, name="learned", directions=directions, budget=budget
        ), None
    except OutOfTimeError:
        return None, NO_TIME


def few_enough(graph: DAG, schema: Schema) -> bool:
    """True if the tables of a graph are small enough to be fitted."""
    levels = {variable.name: len(variable.levels) for variable in schema if variable.levels}
    cells = 0
    for node in graph:
        family = (node, *graph.parents(node))
        # A number has a coefficient for each configuration of the levels.
        cells += prod(levels[name] for name in family if name in levels) * (
            1 + sum(name not in levels for name in family)
        )
    return cells <= MOST_CELLS


def reason_without_fit(statistics: Statistics) -> str:
    """The reason why parameters are not fitted unasked where the rows are elsewhere, and what fits them."""
    from dagora.data.schema import Kind
    from dagora.stats.given_moments import GivenMoments
    from dagora.stats.scan.scan_statistics import SAMPLE, ScanStatistics

    if isinstance(statistics, GivenMoments):
        return "a covariance matrix tells no means; dagora.fit in Python takes them for 0"
    kinds = {variable.kind for variable in statistics.schema}
    asked = "-o network.bif asks for them" if kinds == {Kind.DISCRETE} else "dagora.fit in Python fits them"
    way_out = by_door(python="dagora.fit fits them", command=asked)
    if isinstance(statistics, ScanStatistics):
        if len(kinds) == 2:
            return f"columns of both kinds need the rows for them: take a sample ({option('sample', SAMPLE)})"
        return f"the rows are not in memory, and tables take more passes over them; {way_out}"
    return f"over sites every table is one more secure sum; {way_out}"


def fitted_processes(result: Result, statistics: Statistics | None) -> GaussianProcessNetwork | None:
    """The Gaussian processes of a graph that was learned by their score; None where they cannot be fitted."""
    from dagora.api.fit import PROCESSES, fit
    from dagora.graph.dag import DAG
    from dagora.scores.gp.fitted import MOST_ROWS
    from dagora.stats.table import TableStatistics

    if result.score_name not in PROCESSES or type(statistics) is not TableStatistics:
        return None
    if not isinstance(result.graph, DAG) or statistics.n_rows > MOST_ROWS:
        return None
    published = bool(result.settings.get("published")) and result.score_name == "gp2"
    return fit(result.graph, statistics, score=result.score_name, published=published, name="learned")


def own_table(statistics: Statistics | None) -> AnyTable | None:
    """The table behind statistics that were made from rows in memory; None where they are someone else's.

    Over sites, owners agree on what is shown; the distribution of each column is not among it.
    """
    from dagora.stats.observed.statistics import IncompleteStatistics
    from dagora.stats.table import TableStatistics

    if isinstance(statistics, IncompleteStatistics):
        return statistics.table
    return statistics.rows() if isinstance(statistics, TableStatistics) else None
