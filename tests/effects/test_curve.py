"""The curve of y over x: a line that goes on from the effect, and the averages of a logistic model."""

import numpy as np
import pytest

import dagora
from tests.effects.exact_rows import table_of


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(4000)
    x = z + rng.standard_normal(4000)
    y = 3 + 2 * x - z + rng.standard_normal(4000)
    e = rng.random(4000) < 1 / (1 + np.exp(-(x - z)))
    return table_of(z=z, x=x, y=y, e=np.where(e, "ill", "fine"), g=["a", "b"] * 2000)


GRAPH = dagora.DAG("zxyeg", ["zx", "zy", "xy", "ze", "xe", "gy"])


def test_a_line(table):
    found = dagora.effect(table, "x", "y", graph=GRAPH, curve=True)
    first, last = found.curve[0], found.curve[-1]
    assert (last.y.value - first.y.value) / (last.x - first.x) == pytest.approx(found.estimate)
    for point in found.curve:
        assert point.y.low < 3 + 2 * point.x < point.y.high
    assert f"the mean of y {first.y}" in found.to_text()
    assert len(found.to_dict()["curve"]) == 21


def test_a_logistic_curve(table):
    found = dagora.effect(table, "x", "e", graph=GRAPH, event="ill", curve=True)
    z = np.random.default_rng(1).standard_normal(100_000)
    for point in found.curve[::5]:
        truth = (1 / (1 + np.exp(-(point.x - z)))).mean()
        assert point.y.value == pytest.approx(truth, abs=0.03)
        assert 0 < point.y.low < point.y.value < point.y.high < 1


def test_units_change_no_band(table):
    small = table_of(
        **{name: table.values(table.names.index(name)) * 1e-6 for name in "zx"}, e=table.codes(3)
    )
    graph = dagora.DAG("zxe", ["zx", "ze", "xe"])
    found, plain = (
        [point.y for point in dagora.effect(rows, "x", "e", graph=graph, curve=True).curve]
        for rows in (small, table)
    )
    ends = [(one.low, one.high) for one in (found[0], plain[0])]
    assert ends[0] == pytest.approx(ends[1], rel=1e-3)


@pytest.mark.parametrize(
    ("x", "y", "asked", "words"),
    [
        ("g", "y", {}, "a curve runs over the values of one continuous variable"),
        ("y", "x", {}, "there is no curve: the verdict about the effect is 'zero'"),
        ("x", "y", {"graph": None}, "curve goes with a graph"),
    ],
)
def test_no_curve(table, x, y, asked, words):
    with pytest.raises(dagora.OptionError, match=f"^{words}"):
        dagora.effect(table, x, y, **{"graph": GRAPH, "curve": True, **asked})
