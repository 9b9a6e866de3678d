"""`dagora.forecast`: what comes after the last rows of series, and what would come if something were set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dagora.api.network_in_time import TimeSource, fitted_or_given, timing_of
from dagora.data.columns.reading_options import takes_reading
from dagora.network.time.settings import DRAWS
from dagora.network.time.trajectory import Trajectory


@takes_reading(missing="model")
def forecast(
    network: TimeSource,
    data: object,
    steps: int = 12,
    *,
    time: str | None = None,
    series: str | None = None,
    do: Mapping[str, object] | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
    **reading: Any,  # noqa: ANN401 - those of `read_table`
) -> Trajectory:
    """Forecast the steps after the last row of each series, with intervals.

    Discrete and linear Gaussian networks are exact, also where cells or steps are missing; networks with both
    kinds of variables forecast by simulation, and say so.

    Parameters
    ----------
    network : TimeNetwork, network, LaggedGraph, DAG, CPDAG, Result or file
        A network in time, as `fit` with a `time` makes it, or its window in a file. A graph in time without
        parameters is fitted to the data first.
    data : path, data frame, matrix, mapping of columns, Table or IncompleteTable
        The rows so far.
    steps : int, default 12
        Number of steps ahead.
    time : str, optional
        Column that says when a row was. Default: that which the network was fitted with.
    series : str, optional
        Column that says which series a row belongs to; without it, there is one.
    do : mapping, optional
        Variables that are set from outside: `{"x@t+2": 3}` at the second step ahead, `{"x": 3}` at all steps.
    level : float, default 0.95
        Level of the intervals.
    draws : int, default 10000
        Number of draws where a network has both kinds of variables.
    seed : int, default 0
        Decides what is drawn: parameters behind intervals, and simulations.
    {reading}

    Returns
    -------
    Trajectory
        `.mean("x")`, `.interval("x")` or `.probabilities("x")` step by step; `.to_text()` in words.

    Examples
    --------
    >>> import dagora
    >>> graph = dagora.LaggedGraph(["x", "y"], 1, [("x", "x", 1), ("x", "y", 1)])
    >>> rows = dagora.simulate_series(dagora.DAG("xy"), 200, seed=1).table
    >>> found = forecast(graph, rows, 2, time="t", series="series")
    >>> found.series[0].times, found.interval("x").shape
    (('201', '202'), (2, 2))
    >>> forecast(graph, rows, 2, time="t", series="series", do={"x@t+1": 4}).mean("x").tolist()[0]
    4.0
    """
    timing = timing_of(time, series, network)
    known, note = fitted_or_given(network, data, timing, reading)
    found = known.forecast(data, steps, do=do, level=level, draws=draws, seed=seed, **reading)
    return replace(found, notes=(note, *found.notes)) if note else found
