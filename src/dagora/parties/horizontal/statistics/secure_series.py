"""The `Statistics` of series that are not pooled: moments of windows of time, from one secure sum."""

from __future__ import annotations

from functools import cached_property

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import option
from dagora.graph.lagged_graph import window_names
from dagora.parties.horizontal.session.federation import Federation
from dagora.parties.horizontal.statistics.secure_statistics import SecureStatistics
from dagora.stats.lagged import LaggedStatistics
from dagora.stats.statistics import Moments


class SecureSeriesStatistics(SecureStatistics):
    """Statistics over a federation of sites that have series, of windows that reach `lags` steps back.

    All that is asked for is the sum over windows. So what is said of single steps is about those that end a
    window: their number is `n_rows`, and their moments are those of the window's present.
    """

    def __init__(self, federation: Federation, lags: int) -> None:
        super().__init__(federation)
        self.lags = lags

    def lagged(self, lags: int) -> LaggedStatistics:
        """Statistics of windows; of those that the plan of the run allows."""
        if lags != self.lags:
            raise OptionError(f"the plan is for {option('lags', self.lags)}, not for {option('lags', lags)}")
        return LaggedStatistics(self.schema.names, lags, self._windows)

    def moments(self) -> Moments:
        """Moments of the steps that end a window."""
        d, windows = len(self.schema), self._windows
        return Moments(windows.n, windows.mean[:d], windows.scatter[:d, :d])

    @cached_property
    def _windows(self) -> Moments:
        window_names(self.schema.names, self.lags)  # refuses a variable that is named like a lagged one
        moments = self.federation.lagged_moments(self.lags)
        if moments.n == 0:
            raise DataError(
                f"no site has a series of {self.lags + 1} steps ({option('lags', self.lags)}): choose fewer "
                "lags"
            )
        return moments
