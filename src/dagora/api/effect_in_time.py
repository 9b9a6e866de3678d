"""`dagora.effect_in_time`: what a change of one variable does to another in the steps that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dagora.api.bootstrap import bootstrap
from dagora.api.effect import BOOTSTRAP, MOST_EXACT, averages
from dagora.api.graph_source import GIVEN, class_of, notes_on_directions
from dagora.api.learn import learn
from dagora.api.network_in_time import (
    NO_GRAPH_IN_TIME,
    TimeSource,
    read_histories,
    read_time_source,
    timing_of,
)
from dagora.api.sample import sample
from dagora.base.errors import GraphError, OptionError
from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.accepting import as_any_table
from dagora.data.columns.reading_options import always, split_reading, takes_reading
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.made_tables import without_design
from dagora.data.series import Timing
from dagora.data.table import Table
from dagora.effects.drawn_graphs import DrawnGraphs, drawn_from, drawn_from_class, drawn_from_samples
from dagora.effects.in_time import EffectInTime, check_question
from dagora.effects.in_time import effect_in_time as effect_of_windows
from dagora.effects.in_time_averaged import average_effect_in_time
from dagora.formats.registry import read_content
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.directions import WEAK, Directions
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge
from dagora.graph.lagged_graph import LaggedGraph, present_step, split_name
from dagora.learners.checks import check_circumstances
from dagora.learners.result import Result
from dagora.network.time.fitting import window_rows
from dagora.network.time.time_network import TimeNetwork
from dagora.posterior.resample.strengths import Strengths
from dagora.posterior.summary.posterior import Posterior

NUMBERS_FOR = "the effect in time"
IS_LEARNED = (
    "the graph was learned{by} and is taken as true: the intervals know nothing of its choice, and hold the "
    "true effect less often"
)


@takes_reading(missing="model")
def effect_in_time(
    data: object,
    x: str,
    y: str,
    *,
    graph: TimeSource | Posterior | Strengths | None = None,
    method: str | None = None,
    horizon: int = 6,
    time: str | None = None,
    series: str | None = None,
    lags: int | str | None = None,
    levels: Sequence[float | str] | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    seed: int = 0,
    **options: Any,  # noqa: ANN401 - of reading, and of the method
) -> EffectInTime:
    """Tell the effect of a change of `x` at one step on `y` at that step and the next ones, with intervals.

    It is the total effect over all paths through time, and the impulse response to a shock of x. Beside it
    stands the effect of keeping x at its new value. Numbers only, and linear.

    Parameters
    ----------
    data : path, data frame, matrix, mapping of columns, Table or IncompleteTable
        Rows in time.
    x : str
        The variable that is changed.
    y : str
        The outcome, which may be x itself.
    graph : LaggedGraph, DAG, Result, TimeNetwork, file, Posterior or Strengths, optional
        A graph in time whose arrows are taken as causes. What `sample` or `bootstrap` found on series is
        averaged over; `.cause_probability[h]` then says how probable an effect is.
    method : str, optional
        Without a graph: a sampler or "bootstrap", to average over graphs in time, or a method that learns
        one. Default: "exact" up to 10 variables, else "partition".
    horizon : int, default 6
        The largest number of steps after the change.
    time : str, optional
        Column that says when a row was. Default: that which a network was fitted with.
    series : str, optional
        Column that says which series a row belongs to; without it, there is one.
    lags : int or str, optional
        Without a graph: steps back that a variable may depend on, as for `sample`, `bootstrap` or `learn`.
        Default: 1.
    levels : two numbers, optional
        The value that x is set to, and that instead of which. Default: one unit more.
    knowledge : Knowledge, mapping or file, optional
        Without a graph: what is known about it.
    seed : int, default 0
        Decides what is drawn.
    {reading}
    **options
        Without a graph: options of the method, such as `draws` of a sampler.

    Returns
    -------
    EffectInTime
        `.curve[h]` is the effect h steps later with its 95 % interval, `.kept[h]` that of a lasting change,
        `.adjustment[h]` what to adjust for; `.to_text()` in words.

    Examples
    --------
    >>> import dagora
    >>> graph = dagora.LaggedGraph(["x", "y"], 1, [("x", "x", 1), ("x", "y", 1), ("y", "y", 1)])
    >>> simulation = dagora.simulate_series(dagora.DAG("xy"), 300, seed=2)
    >>> found = effect_in_time(simulation.table, "x", "y", graph=graph, horizon=2, time="t", series="series")
    >>> found.curve[0].value, found.horizon, found.adjustment[1]
    (0.0, 2, ('y[t-1]',))
    """
    check_circumstances(seed, None, 1)
    change = change_of(levels)
    learned = graph is None
    if graph is None:
        timing = timing_of(time, series)
        known = as_knowledge(knowledge, None).edges_only("an effect")
        data, asked = read_all(data, timing, options, (*known.mentioned, x, y))
        check_question([name for name in data.names if name not in timing.columns], x, y, horizon)
        graph = graph_of_rows(data, timing, lags, method, known, seed, asked)
        options = {}
    elif given := [
        name for name, value in (("method", method), ("lags", lags), ("knowledge", knowledge)) if value
    ]:
        raise OptionError(f"a graph is given: leave {option(given[0])} out")
    by = f" from these rows by {graph.method}" if learned and isinstance(graph, Result) else ""
    drawn: DrawnGraphs | None
    if isinstance(graph, Posterior | Strengths):
        drawn = drawn_in_time(graph, seed)
        notes = [*drawn.notes]
    else:
        class_, directions = class_in_time(graph)
        notes = notes_on(directions, by)
        drawn = drawn_from_class(class_, seed) if isinstance(class_, CPDAG) else None
    if drawn is not None:
        graphs = graphs_in_time(drawn)
        histories, _ = read_histories(graphs[0][0], data, timing_of(time, series, graph), options)
        windows = window_rows(histories, graphs[0][0])
        averaged = average_effect_in_time(graphs, windows, x, y, horizon, change, seed, drawn.assumes)
        said = (*histories.notes, *averaged.notes, f"averaged over {drawn.source}", *notes)
        return replace(averaged, notes=said)
    source = read_time_source(graph)
    in_time: LaggedGraph = source.graph if isinstance(source, TimeNetwork) else source[0]
    timing = timing_of(time, series, source)
    check_question(in_time.variables, x, y, horizon)
    histories, _ = read_histories(in_time, data, timing, options)
    found = effect_of_windows(in_time, window_rows(histories, in_time), x, y, horizon, change)
    return replace(found, notes=(*histories.notes, *found.notes, *notes))


def class_in_time(graph: TimeSource) -> tuple[AnyGraph, Directions]:
    """The window of a graph, with lines where data leave directions open, and what is known of these."""
    content = read_content(graph) if isinstance(graph, str | Path) else graph
    content = content.window if isinstance(content, LaggedGraph | TimeNetwork) else content
    found, directions = class_of(content)
    if isinstance(found, PAG):
        raise GraphError("effects in time are told by a graph without hidden causes, and this is a PAG")
    if LaggedGraph.of_window(found) is None and LaggedGraph.of_unrolled(found) is None:
        raise GraphError(NO_GRAPH_IN_TIME)
    return found, directions


def notes_on(directions: Directions, by: str) -> list[str]:
    """Notes on a graph that was learned, on its directions, and on weak edges from earlier steps."""
    if directions is GIVEN:
        return []
    within = {edge: weak for edge, weak in directions.unsure.items() if not split_name(edge[0])[1]}
    notes = [IS_LEARNED.format(by=by), *notes_on_directions(replace(directions, unsure=within))]
    if late := [f"{tail} → {head}" for tail, head in directions.unsure if split_name(tail)[1]]:
        notes.append(f"{some_of(late)}: worth less than {WEAK:g} nats, so other rows may not show it")
    return notes


def read_all(
    data: object, timing: Timing, options: Mapping[str, Any], wanted: Sequence[str]
) -> tuple[AnyTable, dict[str, Any]]:
    """Rows in time with all their columns, as numbers where they can be; and the options of the method."""
    reading, asked = split_reading(
        options if isinstance(data, Table | IncompleteTable) else {"missing": "model", **options},
        (*wanted, *timing.columns),
        NUMBERS_FOR,
        why_not_model=always,
        numbers=(timing.time,),
    )
    return without_design(as_any_table(data, replace(reading, in_time=timing.columns))), asked


def graph_of_rows(
    table: AnyTable,
    timing: Timing,
    lags: int | str | None,
    method: str | None,
    known: Knowledge,
    seed: int,
    options: Mapping[str, Any],
) -> Posterior | Strengths | Result:
    """The graphs that a sampler or the bootstrap finds in rows in time, or the one that a learner finds."""
    asked: dict[str, Any] = {"time": timing.time, "series": timing.series, "lags": lags}
    asked |= {"knowledge": known, "seed": seed, **options}
    if not averages(method):
        return learn(table, method or "auto", **asked)
    if method is not None and method.lower() == BOOTSTRAP:
        return bootstrap(table, **asked)
    if isinstance(lags, str):
        raise OptionError(
            f"samplers take a number of {option('lags')}: {BOOTSTRAP} and learners can choose it"
        )
    variables = len(table.names) - len(timing.columns)
    return sample(table, method or ("exact" if variables <= MOST_EXACT else "partition"), **asked)


def change_of(levels: Sequence[float | str] | None) -> float:
    """The change between two values of x; one unit without them."""
    if levels is None:
        return 1.0
    try:
        after, before = (float(level) for level in levels)
    except (TypeError, ValueError):
        raise OptionError(f"{option('levels')} takes two numbers, the new value and the old one") from None
    return after - before


def drawn_in_time(found: Posterior | Strengths, seed: int) -> DrawnGraphs:
    """The graphs to average over; of classes of graphs, members at random."""
    regimes = present_step(found.nodes)
    if not regimes:
        raise GraphError("the sampled graphs are none in time: sample with a time")
    if isinstance(found, Strengths):
        return drawn_from_samples(found, Knowledge(), regimes, seed)
    return drawn_from(found, Knowledge(), regimes)


def graphs_in_time(drawn: DrawnGraphs) -> list[tuple[LaggedGraph, float]]:
    """The distinct graphs with their weights."""
    shares = np.bincount(drawn.distinct.index.ravel(), drawn.weights.ravel(), len(drawn.distinct))
    found = []
    for marks, share in zip(drawn.matrices, shares, strict=True):
        graph = LaggedGraph.of_window(DAG.from_numpy(marks, drawn.distinct.names))
        if graph is None:
            raise GraphError("the sampled graphs are none in time: sample with a time")
        if share > 0:
            found.append((graph, float(share)))
    return found
