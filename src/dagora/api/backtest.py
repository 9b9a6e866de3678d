"""`dagora.backtest`: how well a graph in time forecasts, beside simple rivals, on rows held out."""

from __future__ import annotations

from typing import Any

from dagora.api.network_in_time import TimeSource, graph_in_time, read_histories, timing_of
from dagora.base.errors import OptionError
from dagora.data.columns.reading_options import takes_reading
from dagora.network.networks import Network
from dagora.network.table_prior import TablePrior
from dagora.network.time.backtest import Backtest, run_backtest
from dagora.network.time.fitting import fit_window
from dagora.network.time.histories import Histories
from dagora.network.time.settings import DRAWS, MOST_AHEAD, check_forecast
from dagora.network.time.step_model import StepModel


@takes_reading(missing="model")
def backtest(
    network: TimeSource,
    data: object,
    steps: int = 1,
    origins: int = 30,
    *,
    time: str | None = None,
    series: str | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
    **reading: Any,  # noqa: ANN401 - those of `read_table`
) -> Backtest:
    """Forecast from the last origins of the series, each time from the rows before alone, and compare.

    The parameters are fitted anew at each origin; the graph stays. The rivals are the last value, the mean so
    far, and a vector autoregression of every variable on all at all lags, by least squares.

    Parameters
    ----------
    network : TimeNetwork, network, LaggedGraph, DAG, CPDAG, Result or file
        A graph in time; the parameters of a network are not used.
    data : path, data frame, matrix, mapping of columns, Table or IncompleteTable
        Rows in time.
    steps : int, default 1
        Number of steps ahead that are forecast from each origin.
    origins : int, default 30
        Number of origins, the last ones that still have so many steps after them.
    time : str, optional
        Column that says when a row was. Default: that which the network was fitted with.
    series : str, optional
        Column that says which series a row belongs to; without it, there is one.
    level : float, default 0.95
        Level of the intervals whose coverage is told.
    draws : int, default 10000
        Number of draws where a network has both kinds of variables.
    seed : int, default 0
        Decides what is drawn.
    {reading}

    Returns
    -------
    Backtest
        `.error("x", ahead)`, `.skill("x", ahead, against="last")`, `.rows`; `.to_text()` as a table.

    Examples
    --------
    >>> import dagora
    >>> simulation = dagora.simulate_series(dagora.DAG("xy", [("x", "y")]), 200, seed=1)
    >>> found = backtest(simulation.graph, simulation.table, time="t", series="series")
    >>> found.skill("x", 1) > 0, found.origins
    (True, 30)
    """
    timing = timing_of(time, series, network)
    graph = graph_in_time(network)
    if isinstance(origins, bool) or not isinstance(origins, int) or not 1 <= origins <= MOST_AHEAD:
        raise OptionError(option="origins", value=origins, must=f"be a whole number from 1 to {MOST_AHEAD:,}")
    histories, _ = read_histories(graph, data, timing, reading)

    def fitted(before: Histories) -> Network:
        return fit_window(graph, before, TablePrior("one-row"))

    settings = check_forecast(StepModel(fitted(histories).model), steps, None, level, draws, seed)
    return run_backtest(histories, fitted, graph.lags, origins, settings)
