"""Families of both kinds between two periods: least squares on the rows give the same statistics."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.graph.dag import DAG
from dagora.posterior.criticism.family_changes import compare_family
from dagora.posterior.criticism.period_test import PeriodTest
from dagora.stats.table import TableStatistics

GRAPH = DAG("gxyc", ["gy", "xy", "gc", "xc"])
DECLARED = {"discrete": ["g", "c"], "continuous": ["x", "y"]}


def period(
    random: np.random.Generator, rows: int, slope: float = 1.0, odds: float = 1.0, far: float = 0.0
) -> pd.DataFrame:
    """A group g of three levels and a number x, on which a number y and levels c depend."""
    g, x = random.integers(0, 3, rows), random.normal(size=rows) + far
    y = slope * x + np.array([0.0, 1.0, -1.0])[g] + random.normal(size=rows)
    push = odds * (x - far) + np.array([0.0, 0.5, -0.5])[g] + random.logistic(size=rows)
    c = np.digitize(push, [-1.0, 0.8])
    return pd.DataFrame({"g": [f"g{k}" for k in g], "x": x, "y": y, "c": [f"c{k}" for k in c]})


def statistics(rows: pd.DataFrame) -> TableStatistics:
    return TableStatistics(dagora.Table.from_frame(rows, **DECLARED))


def design(rows: pd.DataFrame, levels: list[str], squares: bool) -> np.ndarray:
    """The intercept, x, its square, and indicators: written out, for least squares on the rows."""
    columns = [np.ones(len(rows)), rows["x"], *([rows["x"] ** 2] if squares else [])]
    return np.column_stack([*columns, *((rows["g"] == level) * 1.0 for level in levels[1:])])


def left(design_: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """The products of what least squares leave."""
    rest = outcome - design_ @ np.linalg.lstsq(design_, outcome, rcond=None)[0]
    return rest.T @ rest


def test_a_number_given_both_kinds_is_tested_as_by_least_squares() -> None:
    random = np.random.default_rng(1)
    old, new = period(random, 200), period(random, 300, slope=1.6, far=0.3)
    found = compare_family(GRAPH, "y", statistics(old), statistics(new))
    levels = ["g0", "g1", "g2"]
    both = pd.concat([old, new])
    rss = [
        float(left(design(rows, levels, False), rows[["y"]].to_numpy())[0, 0]) for rows in (old, new, both)
    ]
    ratio = 500 * np.log(rss[2] / 500) - 200 * np.log(rss[0] / 200) - 300 * np.log(rss[1] / 300)
    assert isinstance(found, PeriodTest)
    assert found.df == 5
    assert found.statistic == pytest.approx(ratio * (1 - 6 / 200), rel=1e-8)
    assert found.largest.startswith("slope on x ")


def test_levels_given_both_kinds_are_tested_as_by_least_squares() -> None:
    random = np.random.default_rng(2)
    old, new = period(random, 250), period(random, 350, odds=-0.5)
    found = compare_family(GRAPH, "c", statistics(old), statistics(new))
    both = pd.concat([old, new])
    products = []
    for rows in (old, new, both):
        outcome = np.column_stack([(rows["c"] == level) * 1.0 for level in ("c1", "c2")])
        products.append(left(design(rows, ["g0", "g1", "g2"], True), outcome))
    wilks = np.linalg.det(products[0] + products[1]) / np.linalg.det(products[2])
    assert isinstance(found, PeriodTest)
    assert found.df == 2 * 5
    assert found.statistic == pytest.approx(-(600 - 10 - (2 - 5 + 1) / 2) * np.log(wilks), rel=1e-8)
    assert found.largest.startswith("P(c=")


def test_levels_given_numbers_that_moved_far_are_not_tested() -> None:
    random = np.random.default_rng(8)
    far = compare_family(
        GRAPH, "c", statistics(period(random, 400)), statistics(period(random, 400, far=1.0))
    )
    assert isinstance(far, str)
    assert far.startswith("x moved by ")
    spread = period(random, 400).assign(x=lambda rows: 3 * rows["x"])
    assert isinstance(compare_family(GRAPH, "c", statistics(period(random, 400)), statistics(spread)), str)


def test_levels_that_one_period_lacks_are_no_change() -> None:
    random = np.random.default_rng(3)
    old, new = period(random, 400), period(random, 400)
    new = new[new["g"] != "g2"]
    y = compare_family(GRAPH, "y", statistics(old), statistics(new))
    assert isinstance(y, PeriodTest)
    assert y.df == 4
    assert dagora.drift(GRAPH, statistics(old), statistics(new)).changed == ("g",)


def test_the_order_of_levels_and_kept_statistics_change_nothing(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    old, new = period(random, 300), period(random, 300, odds=0.2)
    turned = new.iloc[::-1]
    turned = turned.assign(g=pd.Categorical(turned["g"], ["g2", "g0", "g1"]))
    files = [
        dagora.statistics(rows, **DECLARED).save(tmp_path / f"{k}.stats")
        for k, rows in enumerate((old, turned))
    ]
    one, other = dagora.drift(GRAPH, old, new, **DECLARED), dagora.drift(GRAPH, *files)
    for mine, own in zip(one.families, other.families, strict=True):
        assert mine.statistic == pytest.approx(own.statistic, rel=1e-9)
        assert mine.df == own.df
    assert one.changed == other.changed == ("c",)


def test_too_few_rows_and_children_that_parents_determine_are_told() -> None:
    random = np.random.default_rng(5)
    few = compare_family(GRAPH, "y", statistics(period(random, 11)), statistics(period(random, 50)))
    assert few == "11 rows are too few for 3 parents"
    old, new = (period(random, 60).assign(y=lambda rows: rows["x"] * 2) for _ in range(2))
    found = dagora.drift(GRAPH, statistics(old), statistics(new))
    assert "y given g, x: not tested (parents that repeat each other, or no spread)" in found.to_text()


@pytest.mark.full
@pytest.mark.parametrize("sizes", [(80, 60), (400, 300)])
@pytest.mark.parametrize("child", ["y", "c"])
def test_p_values_are_uniform_where_nothing_changed(child: str, sizes: tuple[int, int]) -> None:
    from scipy.stats import chi2

    random = np.random.default_rng(6)
    p_values = []
    for _ in range(200):
        old, new = (statistics(period(random, rows)) for rows in sizes)
        test = compare_family(GRAPH, child, old, new)
        assert isinstance(test, PeriodTest)
        p_values.append(chi2.sf(test.statistic, test.df))
    for level in (0.05, 0.2):
        share = np.mean(np.array(p_values) < level)
        assert share < level + 2.5 * np.sqrt(level * (1 - level) / 200) + 0.01, (level, share)
        assert share > level / 4
