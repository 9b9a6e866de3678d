"""Each kind of statistics declares exactly what it can do beyond the minimum."""

from dataclasses import fields

import numpy as np
import pytest

import dagora
from dagora.data.columns.row_design import RowDesign
from dagora.data.designed import DesignedTable
from dagora.data.incomplete import IncompleteTable
from dagora.data.interventions import Interventions
from dagora.data.series import Panel
from dagora.data.table import Table
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.horizontal.session.secure_statistics import SecureSeriesStatistics, SecureStatistics
from dagora.stats.capabilities import MINIMUM, StatisticsCapabilities, capabilities_of, contingencies
from dagora.stats.designed import DesignStatistics
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.lagged import SeriesStatistics
from dagora.stats.name_order import NameOrder, in_name_order
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.table import TableStatistics

ROWS = Table.from_numpy([[0, 0, 1.5], [1, 1, 2.5], [0, 1, 3.5]] * 9, ["b", "a", "x"], discrete=["a", "b"])
STEPS = Table.from_numpy([[k, k * 0.5] for k in range(9)], ["day", "x"], continuous=["all"])
OF_TABLES = {"in_memory", "overview", "basis_moments", "indicator_moments"}
OF_SITES = {"contingencies", "basis_moments", "indicator_moments", "federation"}
OF_SCANS = {"overview", "contingencies", "knows", "indicator_moments"}


class Minimal:
    """Statistics of the minimum: a table's, with no word about more."""

    def __init__(self):
        table = TableStatistics(ROWS)
        self.schema, self.n_rows = table.schema, table.n_rows
        self.counts, self.contingency = table.counts, table.contingency
        self.moments, self.rows = table.moments, table.rows


def scanned(folder):
    dagora.write_table(ROWS, folder / "t.csv")
    return dagora.open_rows(folder / "t.csv", discrete=["a", "b"], continuous=["x"])


def with_interventions(_):
    return InterventionalStatistics(ROWS, Interventions.of_rows(["a", None, None] * 9, ROWS.names))


def over_sites(_):
    return SecureStatistics(OpenFederation.over([Site("north", ROWS), Site("south", ROWS)], TASKS))


def in_time(_):
    return SeriesStatistics(Panel.of_table(STEPS, "day"))


def with_missing(_):
    return IncompleteStatistics(IncompleteTable.of(ROWS, [[True] * 27, [True] * 26 + [False], [True] * 27]))


def with_weights(_):
    """Statistics of rows with weights."""
    designed = DesignedTable(ROWS, RowDesign(np.linspace(0.5, 2, 27), by_weight="w"))
    return DesignStatistics(designed)


def weighed_scan(folder):
    """Statistics of scanned rows with weights."""
    rows = DesignedTable(ROWS, RowDesign(np.linspace(0.5, 2, 27), by_weight="w"))
    dagora.write_table(rows.with_weights(), folder / "w.csv")
    return dagora.open_rows(folder / "w.csv", discrete=["a", "b"], continuous=["x"], weights="w")


KINDS = {
    "minimal": (lambda _: Minimal(), set()),
    "table": (lambda _: TableStatistics(ROWS), OF_TABLES),
    "threads": (lambda _: TableStatistics(ROWS, jobs=2), {*OF_TABLES, "jobs"}),
    "interventions": (with_interventions, {*OF_TABLES, "interventions"}),
    "series": (in_time, {*OF_TABLES, "lagged"}),
    "missing": (with_missing, {"in_memory", "overview", "indicator_moments", "refuse_missing"}),
    "design": (with_weights, {*OF_TABLES, "design"}),
    "scan": (scanned, OF_SCANS),
    "weighed scan": (weighed_scan, {*OF_SCANS, "design"}),
    "sites": (over_sites, OF_SITES),
}


def declared(statistics):
    """The names of what statistics can do."""
    found = capabilities_of(statistics)
    names = [part.name for part in fields(StatisticsCapabilities)]
    return {name for name in names if getattr(found, name) != getattr(MINIMUM, name)}


@pytest.mark.parametrize("kind", KINDS)
def test_statistics_declare_what_they_can_do(tmp_path, kind):
    make, expected = KINDS[kind]
    assert declared(make(tmp_path)) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("minimal", {"contingencies"}),
        ("scan", OF_SCANS - {"overview"}),
        ("weighed scan", OF_SCANS - {"overview"} | {"design"}),
        ("sites", OF_SITES - {"federation"}),
    ],
)
def test_the_order_of_names_keeps_what_can_be_counted(tmp_path, kind, expected):
    behind = KINDS[kind][0](tmp_path)
    ordered = in_name_order(behind)
    assert isinstance(ordered, NameOrder)
    assert declared(ordered) == expected
    (both,) = contingencies(ordered, [(0, 1)])
    assert both.cells.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert both.counts.tolist() == (behind.contingency((1, 0)).counts).tolist()


def test_series_over_sites_add_windows():
    statistics = SecureSeriesStatistics.__new__(SecureSeriesStatistics)
    statistics.federation = object()
    assert declared(statistics) == {*OF_SITES, "lagged"}
