"""Unit roots: MacKinnon's critical values, the size of the test on random walks, its power, drift, several series."""

import numpy as np
import pytest

from dagora.data.incomplete import IncompleteTable
from dagora.data.series import Panel
from dagora.data.table import Table
from dagora.stats.unit_roots import AROUND_LINE, AROUND_MEAN, Wandering, dickey_fuller, joined, wandering


def panel_of(columns: dict[str, np.ndarray], series: int = 1) -> Panel:
    length = len(next(iter(columns.values())))
    rows = np.column_stack(
        [np.repeat(np.arange(series), length // series), np.arange(length), *columns.values()]
    )
    names = ["id", "t", *columns]
    return Panel.of_table(Table.from_numpy(rows, names, continuous=names[1:], discrete=["id"]), "t", "id")


def autoregression(rng: np.random.Generator, weight: float, steps: int) -> np.ndarray:
    x = np.zeros(steps)
    for t in range(1, steps):
        x[t] = weight * x[t - 1] + rng.normal()
    return x


# Asymptotic critical values at 1 %, 5 % and 10 % (MacKinnon 2010, Queen's working paper 1227, table 2, N = 1).
@pytest.mark.parametrize(
    ("surface", "critical"),
    [(AROUND_MEAN, (-3.43035, -2.86154, -2.56677)), (AROUND_LINE, (-3.95877, -3.41049, -3.12705))],
)
def test_p_values_at_published_critical_values(surface: object, critical: tuple[float, ...]) -> None:
    found = [surface.p_value(value) for value in critical]
    np.testing.assert_allclose(found, [0.01, 0.05, 0.10], rtol=0.03)
    assert surface.p_value(-30.0) == 0.0
    assert surface.p_value(5.0) == 1.0


@pytest.mark.parametrize("line", [False, True])
def test_the_size_on_random_walks_and_the_power_on_stationary_series(line: bool) -> None:
    rng = np.random.default_rng(0)
    walks = [dickey_fuller(rng.normal(size=300).cumsum(), line=line) for _ in range(400)]
    assert 0.02 < np.mean(np.array(walks) <= 0.05) < 0.09
    steady = [dickey_fuller(autoregression(rng, 0.8, 300), line=line) for _ in range(100)]
    assert np.mean(np.array(steady) <= 0.05) > 0.95


def test_what_wanders_and_what_drifts() -> None:
    rng = np.random.default_rng(2)
    panel = panel_of(
        {
            "noise": rng.normal(size=400),
            "walk": rng.normal(size=400).cumsum(),
            "line": 0.05 * np.arange(400) + autoregression(rng, 0.4, 400),
            "slow": autoregression(rng, 0.7, 400),
        }
    )
    assert wandering(panel) == Wandering(("walk",), ("line",))


def test_several_series_are_joined() -> None:
    rng = np.random.default_rng(4)
    short = np.concatenate([autoregression(rng, 0.75, 40) for _ in range(10)])
    assert wandering(panel_of({"x": short}, series=10)) == Wandering()
    walks = np.concatenate([rng.normal(size=40).cumsum() for _ in range(10)])
    assert wandering(panel_of({"x": walks}, series=10)).roots == ("x",)
    assert joined([0.5, 0.5]) == pytest.approx(0.25 * (1 - np.log(0.25)), rel=1e-12)


def test_random_walks_among_steady_series_are_told_with_their_share() -> None:
    rng = np.random.default_rng(8)
    steady = [autoregression(rng, 0.5, 120) for _ in range(20)]
    walks = [rng.normal(size=120).cumsum() for _ in range(10)]
    drifting = [0.2 * np.arange(120) + autoregression(rng, 0.5, 120) for _ in range(10)]
    columns = {"x": [*steady[:10], *walks], "y": steady, "z": [*steady[10:], *drifting]}
    found = wandering(panel_of({name: np.concatenate(parts) for name, parts in columns.items()}, series=20))
    assert (found.roots, found.drifts) == (("x",), ("z",))
    assert found.partly.keys() == {"x", "z"}
    some, total = found.partly["x"]
    assert total == 20
    assert 6 <= some <= 14


@pytest.mark.parametrize("steps", [30, 80])
def test_panels_of_steady_series_are_rarely_told(steps: int) -> None:
    rng = np.random.default_rng(9)
    told = 0
    for _ in range(50):
        rows = np.concatenate([autoregression(rng, 0.5, steps) for _ in range(8)])
        told += bool(wandering(panel_of({"x": rows}, series=8)).roots)
    assert told <= 4


def test_holes_cut_a_series_and_short_or_constant_runs_say_nothing() -> None:
    rng = np.random.default_rng(5)
    rows = np.column_stack([np.arange(300), rng.normal(size=300), np.ones(300)])
    table = Table.from_numpy(rows, ["t", "x", "one"], continuous=["all"])
    seen = np.ones((3, 300), dtype=bool)
    seen[1, [100, 200]] = False
    panel = Panel.of_table(IncompleteTable.of(table, seen), "t")
    assert wandering(panel) == Wandering()
    assert wandering(panel_of({"x": rng.normal(size=15).cumsum()})) == Wandering()
