"""The curve of y over x: a line that goes on from the effect, and the averages of a logistic model."""

import numpy as np
import pytest

import dagora
from dagora.effects.contrast import read_contrast
from dagora.effects.curve import notes_about_bend
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


def test_a_bent_relation_is_told_in_numbers(table):
    """By a regression on x and its square; a line that is right is left without a note."""
    rng = np.random.default_rng(0)
    z, noise = rng.standard_normal((2, 500))
    x = z + rng.standard_normal(500)
    y = x**2 - z + noise
    graph = dagora.DAG("zxy", ["zx", "zy", "xy"])
    found = dagora.effect({"z": z, "x": x, "y": y}, "x", "y", graph=graph, curve=True)
    (note,) = (note for note in found.notes if "bent" in note)
    design = np.column_stack([np.ones(500), z, x])
    line = y - design @ np.linalg.lstsq(design, y)[0]
    design = np.column_stack([design, x**2])
    coefficients = np.linalg.lstsq(design, y)[0]
    share = 1 - ((y - design @ coefficients) ** 2).sum() / (line**2).sum()
    assert f"beside x and z, the square of x has the coefficient {coefficients[-1]:.3g} [" in note
    assert note.endswith(f"explains {share:.0%} of the variance that the line leaves over")
    bowl = np.where(rng.random(500) < 1 / (1 + np.exp(-(x**2) + 2)), "ill", "fine")
    found = dagora.effect({"z": z, "x": x, "y": bowl}, "x", "y=ill", graph=graph, curve=True)
    assert any("takes the logit as a line in x, but it is bent" in note for note in found.notes)
    for straight, event in (("y", None), ("e", "ill")):
        right = dagora.effect(table, "x", straight, graph=GRAPH, event=event, curve=True)
        assert not any("bent" in note for note in right.notes)
    two = {"z": z, "x": np.where(x > 0, 1.5, 0.25), "y": y}
    assert dagora.effect(two, "x", "y", graph=graph, curve=True, continuous=["x"]).curve


@pytest.mark.full
def test_a_line_that_is_right_is_called_bent_by_chance_alone():
    rng = np.random.default_rng(1)
    bent = 0
    for _ in range(200):
        x = rng.standard_normal(80)
        rows = table_of(x=x, y=x + (1 + np.abs(x)) * rng.standard_normal(80))
        bent += bool(notes_about_bend(rows, read_contrast(rows, "x", "y"), ()))
    assert bent < 20


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
