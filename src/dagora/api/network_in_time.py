"""The networks in time that questions take: fitted ones, or graphs in time that are fitted to the data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dagora.base.errors import GraphError, OptionError
from dagora.base.wording import option
from dagora.data.series import Timing
from dagora.formats.registry import read_content
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.directions import Directions
from dagora.graph.lagged_graph import LaggedGraph
from dagora.learners.result import Result
from dagora.network.incomplete.matching import as_incomplete
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork, Network
from dagora.network.table_prior import TablePrior
from dagora.network.time.fitting import fit_window, variables_and_levels
from dagora.network.time.histories import Histories, histories_of, read_in_time
from dagora.network.time.time_network import TimeNetwork

TimeSource = TimeNetwork | Network | LaggedGraph | DAG | CPDAG | Result | str | Path


NO_GRAPH_IN_TIME = (
    "this is no graph in time: its nodes are x, x[t-1], …, the same for every variable, and its "
    "edges lead to the present step; `dynotears` learns one, LaggedGraph makes one"
)
LINES = (
    "lines of the class were directed as in one of its graphs: forecasts hardly depend on which, but what is "
    "set may act otherwise in another"
)


def read_time_source(
    source: object, *, any_of_class: bool = False
) -> TimeNetwork | tuple[LaggedGraph, Directions | None]:
    """A network in time where a source has parameters, else its graph in time.

    A class of graphs is refused where it has lines, unless any of its graphs will do.
    """
    content = read_content(source) if isinstance(source, str | Path) else source
    if isinstance(content, TimeNetwork):
        return content
    if isinstance(content, DiscreteNetwork | GaussianNetwork | MixedNetwork):
        return TimeNetwork(content)
    directions = content.directions if isinstance(content, Result) else None
    graph = content.graph if isinstance(content, Result) else content
    found = graph if isinstance(graph, LaggedGraph) else LaggedGraph.of_window(graph)
    if found is None:
        raise GraphError(NO_GRAPH_IN_TIME)
    if found.undirected and not any_of_class:
        raise GraphError(
            "the graph has lines without a direction: choose one of its graphs, such as `directed()` of its "
            "LaggedGraph"
        )
    return found.directed(), directions


def graph_in_time(source: object) -> LaggedGraph:
    """The graph in time of a source; of a class, one of its graphs."""
    found = read_time_source(source, any_of_class=True)
    return found.graph if isinstance(found, TimeNetwork) else found[0]


def has_lines(source: object) -> bool:
    """Return True for a class of several graphs."""
    content = read_content(source) if isinstance(source, str | Path) else source
    graph = content.graph if isinstance(content, Result) else content
    return isinstance(graph, CPDAG | LaggedGraph) and bool(graph.undirected)


def timing_of(time: str | None, series: str | None, source: object = None) -> Timing:
    """The columns of time and series: those named, else those that a network was fitted with."""
    timing = Timing.read(time, series)
    if timing is None and isinstance(source, TimeNetwork):
        timing = source.timing
    if timing is None:
        raise OptionError(f"{option('time')} says which column says when a row was: name it")
    return timing


def read_histories(
    graph: LaggedGraph, data: object, timing: Timing, reading: Mapping[str, Any]
) -> tuple[Histories, dict[str, tuple[str, ...]]]:
    """The histories of the variables of a graph, with the types that the data show, and their levels."""
    table = as_incomplete(read_in_time(data, timing, reading, variables=graph.variables))
    levels = variables_and_levels(table, graph, timing)
    return histories_of(table, timing, graph.variables, levels, whole=True), levels


def fit_to_time(
    source: object,
    data: object,
    timing: Timing,
    prior: TablePrior,
    reading: Mapping[str, Any],
    *,
    name: str = "network",
    seed: int = 0,
    any_of_class: bool = False,
) -> TimeNetwork:
    """Fit a graph in time to rows in time; a network in time gets new parameters."""
    found = read_time_source(source, any_of_class=any_of_class)
    graph, directions = (found.graph, None) if isinstance(found, TimeNetwork) else found
    histories, _ = read_histories(graph, data, timing, reading)
    return TimeNetwork(fit_window(graph, histories, prior, name, seed, directions), timing)


def fitted_or_given(
    source: object, data: object, timing: Timing, reading: Mapping[str, Any]
) -> tuple[TimeNetwork, str]:
    """A network in time as it is; a graph in time is fitted to the data, which a note says."""
    found = read_time_source(source, any_of_class=True)
    if isinstance(found, TimeNetwork):
        return TimeNetwork(found.window, timing), ""
    network = fit_to_time(source, data, timing, TablePrior("one-row"), reading, any_of_class=True)
    origin = network.window.origin
    rows = "" if origin is None else f" ({origin.n_rows:,} windows of {network.lags + 1} steps)"
    note = f"the parameters were fitted to these rows{rows}"
    return network, f"{note}; {LINES}" if has_lines(source) else note
