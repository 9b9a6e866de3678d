"""`dagora.effect_in_time`: what a change of one variable does to another in the steps that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dagora.api.network_in_time import TimeSource, read_histories, read_time_source, timing_of
from dagora.base.errors import GraphError, OptionError
from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.reading_options import takes_reading
from dagora.effects.in_time import EffectInTime, check_question
from dagora.effects.in_time import effect_in_time as effect_of_windows
from dagora.effects.in_time_averaged import average_effect_in_time
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.time.fitting import window_rows
from dagora.network.time.time_network import TimeNetwork
from dagora.posterior.summary.weighted_graphs import WeightedGraphs

LEARNED = (
    "the graph was learned and is taken as true: the intervals know nothing of its choice, and hold the true "
    "effect less often"
)


@takes_reading(missing="model")
def effect_in_time(
    data: object,
    x: str,
    y: str,
    *,
    graph: TimeSource | WeightedGraphs[Any],
    horizon: int = 6,
    time: str | None = None,
    series: str | None = None,
    levels: Sequence[float | str] | None = None,
    seed: int = 0,
    **reading: Any,  # noqa: ANN401 - those of `read_table`
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
    graph : LaggedGraph, DAG, Result, TimeNetwork, file, Posterior or Strengths
        A graph in time whose arrows are taken as causes. What `sample` or `bootstrap` found on series is
        averaged over; `.cause_probability[h]` then says how probable an effect is.
    horizon : int, default 6
        The largest number of steps after the change.
    time : str, optional
        Column that says when a row was. Default: that which a network was fitted with.
    series : str, optional
        Column that says which series a row belongs to; without it, there is one.
    levels : two numbers, optional
        The value that x is set to, and that instead of which. Default: one unit more.
    seed : int, default 0
        Decides what is drawn for intervals of averages.
    {reading}

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
    change = change_of(levels)
    if isinstance(graph, WeightedGraphs):
        graphs = graphs_in_time(graph)
        timing = timing_of(time, series)
        histories, _ = read_histories(graphs[0][0], data, timing, reading)
        windows = window_rows(histories, graphs[0][0])
        averaged = average_effect_in_time(graphs, windows, x, y, horizon, change, seed)
        return replace(averaged, notes=(*histories.notes, *averaged.notes))
    source = read_time_source(graph)
    in_time: LaggedGraph = source.graph if isinstance(source, TimeNetwork) else source[0]
    timing = timing_of(time, series, source)
    check_question(in_time, x, y, horizon)
    histories, _ = read_histories(in_time, data, timing, reading)
    found = effect_of_windows(in_time, window_rows(histories, in_time), x, y, horizon, change)
    directions = source[1] if isinstance(source, tuple) else None
    notes = [*histories.notes, *found.notes]
    if directions is not None:
        notes.append(LEARNED)
        if directions.undetermined:
            named = some_of([f"{tail} — {head}" for tail, head in directions.undetermined])
            notes.append(
                f"the data do not determine the direction of {named}: turned, it may give another effect"
            )
    return replace(found, notes=tuple(notes))


def change_of(levels: Sequence[float | str] | None) -> float:
    """The change between two values of x; one unit without them."""
    if levels is None:
        return 1.0
    try:
        after, before = (float(level) for level in levels)
    except (TypeError, ValueError):
        raise OptionError(f"{option('levels')} takes two numbers, the new value and the old one") from None
    return after - before


def graphs_in_time(sampled: WeightedGraphs[Any]) -> list[tuple[LaggedGraph, float]]:
    """The graphs of a sample with their shares; lines of a class are directed as in one of its graphs."""
    found = []
    for graph, share in sampled.graphs():
        in_time = LaggedGraph.of_window(graph)
        if in_time is None:
            raise GraphError("the sampled graphs are none in time: sample with a time")
        found.append((in_time.directed(), share))
    return found
