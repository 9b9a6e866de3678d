"""Tests of ordered columns: the permutation distribution by force, calibration, power, and latent correlations."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DataError, RowsUnavailableError
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.learners.constraint.named_tests import TESTS
from dagora.learners.independence.trend import TrendTest
from dagora.stats.accepting import as_statistics
from dagora.stats.table import TableStatistics

NOTHING = np.empty((1, 0), dtype=np.int64)


def table_of(*columns, levels=5):
    names = "abcdef"[: len(columns)]
    schema = Schema(Variable(name, Kind.DISCRETE, tuple(map(str, range(levels)))) for name in names)
    return Table(schema, tuple(np.asarray(column, dtype=np.uint16) for column in columns))


def test_mean_and_variance_are_those_over_all_permutations_within_strata():
    from scipy.special import ndtr
    from scipy.stats import rankdata

    x, y, z = [0, 2, 1, 3, 1, 0, 2], [1, 2, 0, 3, 3, 0, 1], [0, 0, 0, 0, 1, 1, 1]
    u, v = rankdata(x), rankdata(y)
    sums = []
    for first in permutations(range(4)):
        for second in permutations(range(4, 7)):
            turned = v[[*first, *second]]
            total = 0.0
            for stratum in (slice(0, 4), slice(4, 7)):
                total += ((u[stratum] - u[stratum].mean()) * (turned[stratum] - turned[stratum].mean())).sum()
            sums.append(total)
    found = TrendTest(TableStatistics(table_of(x, y, z)), "it").p_values(
        np.array([0]), np.array([1]), np.array([[2]])
    )
    observed = sums[0]
    assert np.mean(sums) == pytest.approx(0, abs=1e-9)
    assert found[0] == pytest.approx(2 * ndtr(-abs(observed) / np.std(sums)))


@pytest.mark.full
@pytest.mark.parametrize("name", ["trend", "latent"])
def test_independent_columns_are_rejected_as_often_as_the_level_says(name):
    """Given a level for trend; behind the cuts of normal variables for latent, which rejects about twice as often."""
    rng = np.random.default_rng(0)
    p = []
    for _ in range(300):
        if name == "trend":
            z = rng.integers(0, 3, 150)
            x, y = (np.clip(z + rng.integers(0, 3, 150), 0, 4) for _ in range(2))
        else:
            middle = rng.normal(size=150)
            x, y = (np.digitize(middle + rng.normal(size=150), [-1.0, 0.0, 1.0]) for _ in range(2))
            z = np.digitize(middle, [-0.8, 0.0, 0.8])
        test = TESTS[name](TableStatistics(table_of(x, y, z)), "it")
        p.append(test.p_values(np.array([0]), np.array([1]), np.array([[2]]))[0])
    assert 0.01 < np.mean(np.array(p) < 0.05) < (0.1 if name == "trend" else 0.16)


def test_a_trend_is_seen_with_fewer_rows_than_any_dependence():
    rng = np.random.default_rng(1)
    power = {"trend": 0, "x2": 0}
    for _ in range(200):
        x = rng.integers(0, 5, 100)
        y = np.clip(np.round(x * 0.35 + rng.normal(1, 1.2, 100)), 0, 4)
        for name in power:
            power[name] += (
                TESTS[name](TableStatistics(table_of(x, y)), "it").p_values(
                    np.array([0]), np.array([1]), NOTHING
                )[0]
                < 0.01
            )
    assert power["trend"] > 1.3 * power["x2"]


@pytest.mark.parametrize("name", ["trend", "latent"])
def test_pc_takes_them(name):
    rng = np.random.default_rng(2)
    a, c = rng.normal(size=(2, 1500))
    b = a + c + 0.7 * rng.normal(size=1500)
    d = b + 0.7 * rng.normal(size=1500)
    cut = [np.digitize(column, np.quantile(column, [0.2, 0.4, 0.6, 0.8])) for column in (a, b, c, d)]
    result = dagora.learn(table_of(*cut), "pc", test=name)
    joined = {frozenset(edge) for edge in (*result.graph.edges, *result.graph.undirected)}
    assert {frozenset("ab"), frozenset("bc"), frozenset("bd")} <= joined
    assert frozenset("ac") not in joined
    assert f"by {name}" in result.message


def test_refusals():
    schema = Schema([Variable("a", Kind.DISCRETE, ("x", "y", "z")), Variable("b", Kind.DISCRETE, ("0", "1"))])
    rng = np.random.default_rng(0)
    table = Table(
        schema, (rng.integers(0, 3, 50).astype(np.uint16), rng.integers(0, 2, 50).astype(np.uint16))
    )
    for name in ("trend", "latent"):
        with pytest.raises(DataError, match="needs an order of levels, and those of column 'a' have none"):
            dagora.learn(table, "pc", test=name)
    mixed = Table(
        Schema([schema[1], Variable("x", Kind.CONTINUOUS), Variable("y", Kind.CONTINUOUS)]),
        (table.columns[1], rng.normal(size=50), rng.normal(size=50)),
    )
    test = TrendTest(TableStatistics(mixed), "it")
    assert 0 < test.p_values(np.array([1]), np.array([2]), np.array([[0]]))[0] < 1
    with pytest.raises(DataError, match="is given levels only, and column 'x' is continuous"):
        test.p_values(np.array([0]), np.array([2]), np.array([[1]]))


def test_counts_of_scanned_rows_and_of_sites_give_the_tests_of_the_rows(tmp_path):
    """To the last bit, and as ranks of the rows themselves do: levels with gaps, given none, one and two."""
    rng = np.random.default_rng(3)
    z, w = rng.integers(0, 3, (2, 300))
    x, y = (np.clip(z + w + rng.integers(0, 3, 300), 0, 6) for _ in range(2))
    frame = pd.DataFrame({"x": x + 2 * (x > 3), "y": y, "z": z, "w": w})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    of_rows = as_statistics(frame, reading=ReadingOptions(discrete=["all"]))
    scanned = dagora.open_rows(tmp_path / "rows.csv", discrete=["all"])
    for given in ([], [2], [2, 3]):
        asked = (np.array([0]), np.array([1]), np.array([given], dtype=np.int64).reshape(1, -1))
        found = TrendTest(of_rows, "it").p_values(*asked)
        assert TrendTest(scanned, "it").p_values(*asked) == found
        assert found == pytest.approx(of_single_rows(frame, given), rel=1e-9)
    sites = {name: frame.iloc[k::3].reset_index(drop=True) for k, name in enumerate("abc")}
    over, pooled = (
        learn(rows, "pc", test="trend", discrete=["all"], alpha=0.05)
        for learn, rows in ((dagora.learn_federated, sites), (dagora.learn, frame))
    )
    assert (set(over.graph.edges), set(over.graph.undirected)) == (
        set(pooled.graph.edges),
        set(pooled.graph.undirected),
    )
    assert {(one.first, one.second, one.p) for one in over.separating_sets} == {
        (one.first, one.second, one.p) for one in pooled.separating_sets
    }
    with pytest.raises(RowsUnavailableError, match="needs the rows where a column holds numbers"):
        dagora.learn_federated(
            {name: rows.assign(v=rng.normal(size=100)) for name, rows in sites.items()},
            "pc",
            test="trend",
            discrete=list("xyzw"),
        )


def of_single_rows(frame, given):
    """The test by ranks of rows, stratum by stratum."""
    from scipy.special import ndtr
    from scipy.stats import rankdata

    ranks = pd.DataFrame({"u": rankdata(frame["x"]), "v": rankdata(frame["y"])})
    strata = frame.iloc[:, given].astype(str).agg("/".join, axis=1) if given else np.zeros(len(frame))
    total = variance = 0.0
    for _, some in ranks.groupby(np.asarray(strata)):
        if len(some) < 2:
            continue
        u, v = some["u"] - some["u"].mean(), some["v"] - some["v"].mean()
        total += (u * v).sum()
        variance += (u**2).sum() * (v**2).sum() / (len(some) - 1)
    return 2 * ndtr(-abs(total) / np.sqrt(variance))


@pytest.mark.parametrize(
    ("method", "asked", "owner"),
    [
        ("pc", {"test": "trend"}, "the method pc with the test trend"),
        ("pc", {"test": "latent"}, "the method pc with the test latent"),
        ("tabu", {"score": "bic-latent"}, "the score bic-latent"),
    ],
)
def test_weights_are_refused_by_what_does_not_take_them(method, asked, owner):
    """Not for want of rows: in memory and over sites alike."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.integers(0, 3, 90), "y": rng.integers(0, 3, 90), "w": rng.random(90)})
    sites = {name: frame.iloc[k::3].reset_index(drop=True) for k, name in enumerate("abc")}
    for learn, rows in ((dagora.learn, frame), (dagora.learn_federated, sites)):
        with pytest.raises(RowsUnavailableError, match=f"^{owner} takes rows that count alike"):
            learn(rows, method, weights="w", discrete=["x", "y"], **asked)
