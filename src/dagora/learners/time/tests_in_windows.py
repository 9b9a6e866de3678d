"""Tests of the nodes of windows of time, from sums alone or from the windows as rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import amount
from dagora.base.wording import option
from dagora.data.schema import Kind
from dagora.graph.lagged_graph import window_names
from dagora.learners.constraint.named_tests import FOR_BOTH_KINDS, TESTS, default_test
from dagora.learners.independence.fisher_z import FisherZ
from dagora.learners.independence.protocol import IndependenceTest
from dagora.learners.time.dynotears import check_window
from dagora.learners.time.gaussian_links import GaussianLinks
from dagora.learners.time.link_tests import LinkTests
from dagora.learners.time.named_links import NamedLinks
from dagora.stats.capabilities import capabilities_of
from dagora.stats.lagged import LaggedStatistics, SeriesStatistics
from dagora.stats.statistics import Moments, Statistics
from dagora.stats.windows import Windows

MOMENTS_ONLY = "fisher-z"


@dataclass(frozen=True)
class WindowTests:
    """Tests by name at one level, of windows whose variables are sorted by name.

    `tests` are those of links, `single` the test of independence behind them; `rows` is the number of
    windows, `length` how long they are, in words.
    """

    tests: LinkTests
    single: IndependenceTest
    name: str
    variables: tuple[str, ...]
    rows: int
    length: str
    warnings: tuple[str, ...]


def tests_in_windows(statistics: Statistics, reach: int, test: str, alpha: float, method: str) -> WindowTests:
    """Tests of windows that reach that many steps back."""
    owner = f"the method {method}"
    lagged = capabilities_of(statistics).lagged
    if lagged is None:
        raise OptionError(f"{owner} learns from series: {option('time')} says which column holds the time")
    names = tuple(sorted(statistics.schema.names))
    kinds = {variable.kind for variable in statistics.schema}
    by_columns = test == "auto" or (len(kinds) == 1 and test in FOR_BOTH_KINDS)
    name = default_test(statistics) if by_columns else test
    if name == MOMENTS_ONLY:
        if kinds == {Kind.CONTINUOUS}:
            check_window(len(names), reach, method)
        windows = with_variables(lagged(reach), names)
        partial = FisherZ(windows, owner)
        single: IndependenceTest = partial
        tests: LinkTests = GaussianLinks(partial, alpha)
        rows, told, unit = windows.n_rows, windows.warnings, windows.unit
    else:
        if not isinstance(statistics, SeriesStatistics):
            raise OptionError(
                f"{owner} needs the rows of series for the test {name}, and here are sums over windows only: "
                f"choose {MOMENTS_ONLY}"
            )
        made = Windows.of(statistics.panel, reach)
        table = made.statistics(1)
        ordered = table.in_order(window_names(names, reach))
        single = TESTS[name](ordered, owner)
        tests = NamedLinks(single, alpha)
        rows, told, unit = table.n_rows, made.warnings, made.panel.unit
    if tests.max_given < 0:
        raise DataError(f"{owner} cannot make a single test: there are too few windows")
    return WindowTests(tests, single, name, names, rows, amount(reach + 1, unit or "step"), told)


def with_variables(windows: LaggedStatistics, names: tuple[str, ...]) -> LaggedStatistics:
    """The same windows with the variables in another order.

    >>> moments = Moments(3, np.arange(4.0), np.diag(np.arange(4.0)))
    >>> turned = with_variables(LaggedStatistics(("b", "a"), 1, moments), ("a", "b"))
    >>> turned.schema.names, turned.moments().mean.tolist()
    (('a', 'b', 'a[t-1]', 'b[t-1]'), [1.0, 0.0, 3.0, 2.0])
    """
    d = len(names)
    place = {name: at for at, name in enumerate(windows.variables)}
    turn = np.array([lag * d + place[name] for lag in range(windows.lags + 1) for name in names])
    found = windows.window_moments
    moments = Moments(found.n, found.mean[turn], found.scatter[np.ix_(turn, turn)])
    return replace(windows, variables=names, window_moments=moments)
