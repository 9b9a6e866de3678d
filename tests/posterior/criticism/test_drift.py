"""Drift: closed forms of G² and likelihood ratios, the share of false discoveries, and what changed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dagora
from dagora import DAG, DataError, OptionError
from dagora.data.table import Table
from dagora.posterior.criticism.drift import benjamini_hochberg, drift_of
from dagora.posterior.criticism.family_changes import williams
from dagora.stats.table import TableStatistics


def test_g2_is_that_of_the_contingency_table() -> None:
    from scipy.stats import chi2_contingency

    rng = np.random.default_rng(1)
    old = Table.from_numpy(rng.integers(0, 3, (400, 2)), names=["x", "y"], discrete=["x", "y"])
    new = Table.from_numpy(rng.integers(0, 3, (300, 2)), names=["x", "y"], discrete=["x", "y"])
    found = drift_of(DAG("xy", ["xy"]), TableStatistics(old), TableStatistics(new), 0.05)
    total, df = 0.0, 0
    for level in range(3):
        counts = [
            [int(((t.codes(0) == level) & (t.codes(1) == k)).sum()) for k in range(3)] for t in (old, new)
        ]
        test = chi2_contingency(counts, lambda_="log-likelihood", correction=False)
        total, df = total + test.statistic / williams(np.array(counts, dtype=float).T), df + test.dof
    family = found.families[1]
    assert family.statistic == pytest.approx(total)
    assert family.df == df == 6
    marginal = chi2_contingency(
        [np.bincount(t.codes(0), minlength=3) for t in (old, new)], lambda_="log-likelihood", correction=False
    )
    counts = np.array([np.bincount(t.codes(0), minlength=3) for t in (old, new)], dtype=float)
    assert found.families[0].statistic == pytest.approx(marginal.statistic / williams(counts.T))


def test_ratio_is_that_of_three_regressions() -> None:
    rng = np.random.default_rng(2)
    parts = []
    for n, slope in ((200, 1.0), (150, 1.4)):
        x = rng.normal(0, 2, n)
        parts.append(np.column_stack([x, slope * x + rng.normal(size=n)]))
    old, new = (TableStatistics(Table.from_numpy(part, names=["x", "y"])) for part in parts)

    def fit(rows: np.ndarray) -> float:
        design = np.column_stack([np.ones(len(rows)), rows[:, 0]])
        left = rows[:, 1] - design @ np.linalg.lstsq(design, rows[:, 1], rcond=None)[0]
        return len(rows) * np.log(left @ left / len(rows))

    ratio = fit(np.vstack(parts)) - fit(parts[0]) - fit(parts[1])
    family = drift_of(DAG("xy", ["xy"]), old, new, 0.05).families[1]
    assert family.df == 3
    assert family.statistic == pytest.approx(ratio * (1 - 4 / 150))
    assert family.changed
    assert family.largest.startswith("slope on x")


@pytest.mark.full
@pytest.mark.parametrize("sizes", [(60, 40), (400, 300)])
@pytest.mark.parametrize("kind", ["numbers", "levels"])
def test_p_values_are_uniform_where_nothing_changed(kind: str, sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    p_values = []
    for _ in range(150):
        both = []
        for n in sizes:
            if kind == "numbers":
                x = rng.normal(size=(n, 3))
                y = x @ [1.0, 0.5, -0.5] + rng.normal(size=n)
                both.append(TableStatistics(Table.from_numpy(np.column_stack([x, y]), names=list("abcy"))))
            else:
                x = rng.integers(0, 3, n)
                y = (x + (rng.random(n) < 0.2) + 2 * (rng.random(n) < 0.05)) % 5
                cells = np.column_stack([x, y, y * 0, y * 0])
                both.append(
                    TableStatistics(Table.from_numpy(cells, names=list("abcy"), discrete=list("abcy")))
                )
        graph = DAG("abcy", ["ay", "by", "cy"]) if kind == "numbers" else DAG("abcy", ["ab"])
        place = 3 if kind == "numbers" else 1
        p_values.append(drift_of(graph, *both, 0.05).families[place].p_value)
    for level in (0.05, 0.2):
        share = np.mean(np.array(p_values) < level)
        assert share < level + 2.5 * np.sqrt(level * (1 - level) / 150) + 0.01, (level, share)
        assert share > level / 4


def test_adjusted_p_values_are_those_of_scipy() -> None:
    from scipy.stats import false_discovery_control

    p_values = np.random.default_rng(4).random(20) ** 3
    assert np.allclose(benjamini_hochberg(p_values.tolist()), false_discovery_control(p_values))


def test_only_what_changed_is_told(tmp_path) -> None:
    rng = np.random.default_rng(5)

    def period(flip: float) -> dict[str, list[int]]:
        a = rng.integers(0, 2, 2000)
        b = np.where(rng.random(2000) < 0.9, a, 1 - a)
        c = np.where(rng.random(2000) < flip, b, 1 - b)
        return {"a": a.tolist(), "b": b.tolist(), "c": c.tolist()}

    old, new = period(0.9), period(0.7)
    graph = DAG("abc", ["ab", "bc"])
    files = [dagora.statistics(data).save(tmp_path / f"{k}.stats") for k, data in enumerate((old, new))]
    found = dagora.drift(graph, *files)
    assert found.changed == ("c",)
    assert found.to_json() == dagora.drift(graph, old, new).to_json()
    content = json.loads(found.to_json())
    assert content["changed"] == ["c"]
    assert set(content["families"][0]) == {
        "child", "parents", "statistic", "df", "p_value", "adjusted", "changed", "largest", "note"
    }  # fmt: skip
    assert "(changed)" in found.plot().svg
    assert "1 of 3 families changed" in found.to_text()


def test_levels_that_one_period_lacks() -> None:
    old = {"x": ["a", "b"] * 100, "y": ["n", "y"] * 100}
    new = {"x": ["a", "c"] * 100, "y": ["n", "y"] * 100}
    found = dagora.drift(DAG("xy", ["xy"]), old, new)
    assert found.changed == ("x",)
    assert found.families[1].p_value == 1.0


def test_refusals() -> None:
    mixed = {"x": ["a", "b"] * 10, "y": [0.5 + k / 7 for k in range(20)]}
    found = dagora.drift(DAG("xy", ["xy"]), mixed, mixed)
    assert found.families[1].p_value == 1.0
    with pytest.raises(DataError, match="column 'y' is continuous in the old data and discrete in the new"):
        dagora.drift(DAG("xy", ["xy"]), mixed, {"x": ["a", "b"] * 10, "y": ["u", "v"] * 10})
    with pytest.raises(OptionError, match="alpha must be a number between 0 and 1"):
        dagora.drift(DAG("xy", ["xy"]), mixed, mixed, alpha=2)
    with pytest.raises(DataError, match="no column named 'z'"):
        dagora.drift(DAG("xz", ["xz"]), mixed, mixed)
