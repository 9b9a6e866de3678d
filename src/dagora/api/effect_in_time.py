"""`dagora.effect_in_time`: what a change of one variable does to another in the steps that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dagora.api.network_in_time import TimeSource, read_histories, read_time_source, timing_of
from dagora.base.errors import OptionError
from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.reading_options import takes_reading
from dagora.effects.in_time import EffectInTime, check_question
from dagora.effects.in_time import effect_in_time as effect_of_windows
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.time.fitting import window_rows
from dagora.network.time.time_network import TimeNetwork

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
    graph: TimeSource,
    horizon: int = 6,
    time: str | None = None,
    series: str | None = None,
    levels: Sequence[float | str] | None = None,
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
    graph : LaggedGraph, DAG, Result, TimeNetwork or file
        A graph in time whose arrows are taken as causes.
    horizon : int, default 6
        The largest number of steps after the change.
    time : str, optional
        Column that says when a row was. Default: that which a network was fitted with.
    series : str, optional
        Column that says which series a row belongs to; without it, there is one.
    levels : two numbers, optional
        The value that x is set to, and that instead of which. Default: one unit more.
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
    source = read_time_source(graph)
    in_time: LaggedGraph = source.graph if isinstance(source, TimeNetwork) else source[0]
    timing = timing_of(time, series, source)
    check_question(in_time, x, y, horizon)
    change = 1.0
    if levels is not None:
        try:
            after, before = (float(level) for level in levels)
        except (TypeError, ValueError):
            raise OptionError(
                f"{option('levels')} takes two numbers, the new value and the old one"
            ) from None
        change = after - before
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
