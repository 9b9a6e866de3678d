"""Windows as rows against a list of all windows, written out: any kind of column, several series, gaps, holes."""

import numpy as np
import pytest

from dagora.data.incomplete import IncompleteTable
from dagora.data.series import Panel
from dagora.data.table import Table
from dagora.stats.windows import IncompleteWindows, Windows, WindowStatistics, windows_behind


def series_of(lengths: list[int], gap: int | None = None) -> Table:
    """Rows of several series in a random order: a number and a level per step; in the first one steps may be missing."""
    rng = np.random.default_rng(3)
    rows = [
        (
            f"s{k}",
            t if k or gap is None or t < gap else t + 2,
            round(float(rng.normal()), 3),
            "uvw"[rng.integers(3)],
        )
        for k, length in enumerate(lengths)
        for t in range(length)
    ]
    rows = [rows[i] for i in rng.permutation(len(rows))]
    columns = dict(zip(["id", "t", "x", "a"], map(list, zip(*rows, strict=True)), strict=True))
    return Table.from_numpy(np.array([*columns.values()], dtype=object).T, [*columns], continuous=["t", "x"])


def written_out(table: Table, lags: int, seen: np.ndarray | None = None) -> list[tuple]:
    """All windows, from a dictionary of the steps of each series."""
    level = table.schema[table.schema.index("a")].levels
    ids = table.schema[0].levels
    steps = {}
    for row in range(table.n_rows):
        key = ids[table.codes(0)[row]], float(table.values(1)[row])
        cells = [float(table.values(2)[row]), level[table.codes(3)[row]]]
        if seen is not None:
            cells = [cell if seen[2 + k, row] else None for k, cell in enumerate(cells)]
        steps[key] = cells
    found = []
    for name, t in sorted(steps):
        window = [steps.get((name, t - lag)) for lag in range(lags + 1)]
        if None not in window:
            found.append(tuple(cell for cells in window for cell in cells))
    return found


def rows_of(table: Table | IncompleteTable) -> list[tuple]:
    """The rows of a table, with levels by name and None for what was not seen."""
    columns = []
    for k, variable in enumerate(table.schema):
        values = [variable.levels[c] if variable.levels else float(c) for c in table.columns[k]]
        if isinstance(table, IncompleteTable):
            values = [v if s else None for v, s in zip(values, table.seen[k], strict=True)]
        columns.append(values)
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("lags", [1, 2, 3])
@pytest.mark.parametrize("gap", [None, 4])
def test_windows_are_those_written_out(lags: int, gap: int | None) -> None:
    table = series_of([9, 2, 12], gap)
    windows = Windows.of(Panel.of_table(table, "t", "id"), lags)
    found = windows.statistics()
    assert isinstance(found, WindowStatistics)
    assert found.schema.names[:3] == ("x", "a", "x[t-1]")
    assert rows_of(found.rows()) == written_out(table, lags)
    assert windows_behind(found) is windows
    assert windows_behind(found.in_order(sorted(found.schema.names))) is windows


def test_a_missing_value_is_missing_in_every_window_that_holds_it() -> None:
    table = series_of([9, 5])
    seen = np.ones((4, table.n_rows), dtype=bool)
    seen[2, 4] = seen[3, [7, 8]] = False
    found = Windows.of(Panel.of_table(IncompleteTable.of(table, seen), "t", "id"), 2).statistics()
    assert isinstance(found, IncompleteWindows)
    assert rows_of(found.table) == written_out(table, 2, seen)


def test_columns_of_one_run_are_views_and_not_copies() -> None:
    rows = Table.from_numpy(np.arange(10.0).reshape(5, 2) ** 2, ["t", "x"], continuous=["all"])
    rows = Table(rows.schema, (np.arange(5.0), rows.columns[1]))
    panel = Panel.of_table(rows, "t")
    table = Windows.of(panel, 2).table
    assert all(np.shares_memory(column, panel.table.columns[0]) for column in table.columns)
