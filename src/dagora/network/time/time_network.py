"""A network in time: a graph in time with its parameters, which filters, smooths, forecasts and fills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dagora.base.errors import OptionError
from dagora.base.wording import option
from dagora.data.series import Timing
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.incomplete.imputation import Imputation
from dagora.network.networks import Network, require_network
from dagora.network.time.estimates import filter_or_smooth, forecast_series
from dagora.network.time.filling_gaps import fill_gaps
from dagora.network.time.histories import Histories, histories_of, read_in_time
from dagora.network.time.row_scores import RowScores, score_rows
from dagora.network.time.settings import DRAWS, check_forecast, check_level
from dagora.network.time.step_model import StepModel
from dagora.network.time.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class TimeNetwork:
    """A network over a window of `lags` + 1 steps; its last step says how each follows from those before.

    `window` is that network, a DiscreteNetwork, GaussianNetwork or MixedNetwork over x, x[t-1], …; files hold
    it. `timing` names the columns of time and series that it was fitted with: other data with the same
    columns need not name them again.

    >>> import dagora
    >>> graph = LaggedGraph(("x",), 1, [("x", "x", 1)])
    >>> series = {"t": [1, 2, 3, 4, 5, 6], "x": [0.0, 1.0, 0.4, 1.1, 0.5, 0.9]}
    >>> network = dagora.fit(graph, series, time="t", continuous=["x"])
    >>> network.graph.lagged, network.variables, network.lags
    ((('x', 'x', 1),), ('x',), 1)
    >>> network.forecast(series, 2, continuous=["x"]).mean("x").round(3).tolist()
    [0.597, 0.782]
    >>> network.smooth({"t": [1, 2, 4], "x": [0.0, 1.0, 0.4]}, continuous=["x"]).mean("x").shape
    (4,)
    """

    window: Network
    timing: Timing | None = None

    def __post_init__(self) -> None:
        require_network(self.window)
        self.steps.graph  # noqa: B018 - refuses what is no network in time

    @cached_property
    def steps(self) -> StepModel:
        """The network as a model of any number of steps."""
        return StepModel(self.window.model)

    @property
    def graph(self) -> LaggedGraph:
        """The graph in time."""
        return self.steps.graph

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables."""
        return self.graph.variables

    @property
    def lags(self) -> int:
        """The number of steps that a variable may depend on."""
        return self.graph.lags

    def histories(
        self,
        data: object,
        time: str | None = None,
        series: str | None = None,
        *,
        others: bool = False,
        **reading: Any,  # noqa: ANN401 - those of `read_table`
    ) -> Histories:
        """The rows as the network sees them: a history for each series; `others` keeps all columns."""
        timing = Timing.read(time, series) or self.timing
        if timing is None:
            raise OptionError(f"{option('time')} says which column says when a row was: name it")
        known = self.window.model.levels
        levels = {name: tuple(known[name]) for name in self.variables if name in known}
        table = read_in_time(data, timing, reading, variables=self.variables, levels=levels, others=others)
        found = histories_of(table, timing, self.variables, levels)
        fitted = "" if self.window.origin is None else self.window.origin.step
        if not fitted or not found.step or fitted == found.step:
            return found
        note = f"the network was fitted to steps of {fitted}, and those of these rows are {found.step}"
        return replace(found, notes=(*found.notes, f"{note}: what it says holds only if they are the same"))

    def filter(
        self,
        data: object,
        *,
        time: str | None = None,
        series: str | None = None,
        level: float = 0.95,
        draws: int = DRAWS,
        seed: int = 0,
        **reading: Any,  # noqa: ANN401 - those of `read_table`
    ) -> Trajectory:
        """The distribution of every variable at every step, given that step and the earlier ones."""
        check_level(level)
        found = self.histories(data, time, series, **reading)
        return filter_or_smooth(self.steps, found, "filter", level, draws, seed)

    def smooth(
        self,
        data: object,
        *,
        time: str | None = None,
        series: str | None = None,
        level: float = 0.95,
        **reading: Any,  # noqa: ANN401 - those of `read_table`
    ) -> Trajectory:
        """The distribution of every variable at every step, given all steps, the later ones too."""
        check_level(level)
        found = self.histories(data, time, series, **reading)
        return filter_or_smooth(self.steps, found, "smooth", level, 1, 0)

    def forecast(
        self,
        data: object,
        steps: int = 12,
        *,
        do: Mapping[str, object] | None = None,
        time: str | None = None,
        series: str | None = None,
        level: float = 0.95,
        draws: int = DRAWS,
        seed: int = 0,
        **reading: Any,  # noqa: ANN401 - those of `read_table`
    ) -> Trajectory:
        """The distribution of every variable at the steps after the last row of each series.

        `do` sets variables from outside: `{"x@t+2": 3}` at the second step ahead, `{"x": 3}` at all of them.
        """
        settings = check_forecast(self.steps, steps, do, level, draws, seed)
        found = self.histories(data, time, series, **reading)
        return forecast_series(self.steps, found, settings)

    def fill(
        self,
        data: object,
        *,
        time: str | None = None,
        series: str | None = None,
        most_probable: bool = False,
        **reading: Any,  # noqa: ANN401 - those of `read_table`
    ) -> Imputation:
        """Fill missing cells given all that was seen in the series, before and after.

        Each level is the most probable one by itself, or, with `most_probable`, part of the most probable
        history of all of them together (Viterbi); numbers are means, which are both at once.
        """
        found = self.histories(data, time, series, others=True, **reading)
        return fill_gaps(self.steps, found, together=most_probable)

    def score_rows(
        self,
        data: object,
        *,
        time: str | None = None,
        series: str | None = None,
        draws: int = 1000,
        seed: int = 0,
        **reading: Any,  # noqa: ANN401 - those of `read_table`
    ) -> RowScores:
        """The surprise of every row, −log of its probability given the rows before, and a p-value."""
        found = self.histories(data, time, series, **reading)
        return score_rows(self.steps, found, draws, seed)
