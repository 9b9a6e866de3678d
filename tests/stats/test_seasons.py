"""Seasons: found where several columns share one, and seldom where series are stationary and have none."""

from dataclasses import replace

import numpy as np
import pytest

from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.series import Panel
from dagora.data.table import Table
from dagora.stats.seasons import CALENDAR, Seasonal, seasonal, seasons_of, wave_test

MONTH = 365.2425 / 12


def panel_of(columns: np.ndarray, series: int = 1, days: float | None = None) -> Panel:
    n, d = columns.shape
    table = Table(
        Schema(Variable(f"x{k}", Kind.CONTINUOUS) for k in range(d)), tuple(np.ascontiguousarray(columns.T))
    )
    starts = np.linspace(0, n, series + 1).astype(np.int64)
    return Panel(table, starts, ("",) * series, days or 1.0, dated=days is not None)


def autoregressions(rng: np.random.Generator, radius: float, steps: int, period: float = 0.0) -> np.ndarray:
    """Five series; with a period two pairs of them swing, but not with the calendar."""
    weights = rng.normal(size=(5, 5))
    if period:
        turn = 2 * np.pi / period
        weights = np.zeros((5, 5))
        weights[:2, :2] = weights[2:4, 2:4] = [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
    weights *= radius / np.abs(np.linalg.eigvals(weights)).max()
    rows = rng.normal(size=(steps + 200, 5))
    for t in range(1, len(rows)):
        rows[t] += weights @ rows[t - 1]
    return rows[200:]


@pytest.mark.full
@pytest.mark.parametrize("days", [None, MONTH])
@pytest.mark.parametrize(("radius", "period"), [(0.5, 0), (0.95, 0), (0.9, 12)])
def test_stationary_tables_without_a_season_are_seldom_warned_of(
    radius: float, period: float, days: float | None
) -> None:
    shared = 0
    for seed in range(100):
        rows = autoregressions(np.random.default_rng(seed), radius, 180, period)
        shared += len(seasonal(panel_of(rows, days=days)).names) >= 2
    assert shared <= 5


def test_the_p_value_is_that_of_two_regressions() -> None:
    rng = np.random.default_rng(0)
    x = autoregressions(rng, 0.6, 90)[:, 0]
    k, t = 4, np.arange(86)
    base = np.column_stack([np.ones(86), t, *(x[k - lag : -lag] for lag in range(1, k + 1))])
    quarters = np.eye(4)[t % 4][:, 1:]  # the waves of a season of four are its dummies
    left = [
        ((x[k:] - rows @ np.linalg.lstsq(rows, x[k:], rcond=None)[0]) ** 2).sum()
        for rows in (base, np.column_stack([base, quarters]))
    ]
    from scipy.stats import f

    expected = f.sf((left[0] / left[1] - 1) * (86 - 9) / 3, 3, 86 - 9)
    p, gain = wave_test(x, 4)
    assert p == pytest.approx(expected, rel=1e-8)
    assert gain == pytest.approx(86 * np.log(left[0] / left[1]) - 3, rel=1e-8)


@pytest.mark.parametrize("shape", ["sine", "december", "any"])
def test_a_season_of_twelve_is_found_and_named(shape: str) -> None:
    rng = np.random.default_rng(5)
    t = np.arange(240)
    wave = {
        "sine": 2 * np.sin(t * np.pi / 6),
        "december": 3.0 * (t % 12 == 11),
        "any": 2 * rng.normal(size=12)[t % 12],
    }[shape]
    rows = autoregressions(rng, 0.5, 240)[:, :3]
    rows[:, :2] += wave[:, None]
    assert seasonal(panel_of(rows)) == Seasonal(("x0", "x1"), 12, "a cycle of 12 steps")
    found = seasonal(panel_of(rows, days=MONTH))
    assert (found.names, found.cycle) == (("x0", "x1"), "a yearly cycle (12 steps)")
    assert seasonal(panel_of(rows, series=5)).names == ("x0", "x1")
    differences = rows[12:] - rows[:-12]
    assert len(seasonal(panel_of(differences)).names) < 2


def test_a_column_that_tells_the_season_ends_the_warning() -> None:
    rng = np.random.default_rng(4)
    t = np.arange(2000)
    rows = rng.normal(size=(2000, 2)) + 2 * np.sin(t * 2 * np.pi / 365.2425)[:, None]
    assert seasonal(panel_of(rows, days=1)).cycle == "a yearly cycle (365 steps)"
    month = (np.datetime64("2000-01-01") + t).astype("datetime64[M]").astype(int) % 12
    for clock in (np.cos(t * 2 * np.pi / 365.2425), month):
        assert seasonal(panel_of(np.column_stack([rows, clock]), days=1)) == Seasonal()


def test_seasons_of_the_calendar() -> None:
    panel = panel_of(np.zeros((10, 1)))
    for days, lengths in {
        1: [7, 365],
        7: [52],
        1 / 24: [24, 168, 8766],
        MONTH: [12],
        7 / 5: [5, 261],
    }.items():
        assert [round(one) for one in seasons_of(replace(panel, step=days, dated=True))] == lengths
    assert set(CALENDAR.values()) == {1 / 24, 1, 7, 365.2425}


def test_holes_and_short_or_constant_columns_say_nothing() -> None:
    rows = np.column_stack([np.sin(np.arange(30)), np.ones(30)])
    assert seasonal(panel_of(rows)) == Seasonal()
    panel = panel_of(np.tile(rows, (8, 1)))
    seen = np.ones((2, 240), dtype=bool)
    seen[:, ::5] = False
    assert seasonal(replace(panel, table=IncompleteTable.of(panel.table, seen))) == Seasonal()


def test_a_strong_season_is_no_column_that_tells_it() -> None:
    rng = np.random.default_rng(1)
    quarters = np.array([0.0, 3.0, -2.0, 9.0])[np.arange(120) % 4]
    for size in (0.3, 1, 3):
        rows = size * quarters[:, None] + rng.normal(size=(120, 2))
        assert seasonal(panel_of(rows)) == Seasonal(("x0", "x1"), 4, "a cycle of 4 steps")


def test_a_column_that_tells_the_hour_does_not_tell_the_weekend() -> None:
    rng = np.random.default_rng(1)
    t = np.arange(24 * 70)
    weekend = (t // 24 % 7 >= 5) * 2.0
    rows = rng.normal(size=(len(t), 2)) + (weekend + np.sin(t * np.pi / 12))[:, None]
    hours = np.column_stack([rows, t % 24])
    assert seasonal(panel_of(hours, days=1 / 24)) == Seasonal(("x0", "x1"), 168, "a weekly cycle (168 steps)")
    daily = rng.normal(size=(len(t), 2)) + np.sin(t * np.pi / 12)[:, None]
    assert seasonal(panel_of(np.column_stack([daily, t % 24]), days=1 / 24)) == Seasonal()


def test_a_year_of_hours_is_looked_for() -> None:
    t = np.arange(24 * 365 * 5)
    rows = np.random.default_rng(1).normal(size=(len(t), 2)) + np.sin(t * 2 * np.pi / 8765.82)[:, None]
    assert seasonal(panel_of(rows, days=1 / 24)).cycle == "a yearly cycle (8766 steps)"
