"""Effects with weights and groups: closed forms, repeated rows, and intervals that hold what they promise."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.effects.least_squares import least_squares
from dagora.effects.row_sums import RowSums

RANDOM = np.random.default_rng(6)


def people(rows: int, seed: int) -> pd.DataFrame:
    """A confounder, a treatment and outcomes of both kinds."""
    random = np.random.default_rng(seed)
    age = random.normal(size=rows)
    old = age > 0
    drug = random.random(rows) < np.where(old, 0.7, 0.3)
    bp = age + 0.8 * drug + random.normal(size=rows)
    ill = random.random(rows) < 0.2 + 0.2 * old + 0.2 * drug
    return pd.DataFrame(
        {
            "age": age,
            "old": np.where(old, "yes", "no"),
            "drug": np.where(drug, "yes", "no"),
            "bp": bp,
            "ill": np.where(ill, "yes", "no"),
        }
    )


def test_weighted_least_squares_have_the_sandwich_of_their_groups() -> None:
    n, groups = 60, np.repeat(np.arange(12), 5)
    design = np.column_stack([np.ones(n), RANDOM.normal(size=(n, 2))])
    y = design @ [1.0, 2.0, -1.0] + RANDOM.normal(size=12)[groups] + RANDOM.normal(size=n)
    w = RANDOM.uniform(0.5, 2, n)
    fit = least_squares(design, y, RowSums(w, groups))
    inverse = np.linalg.inv(design.T @ (design * w[:, None]))
    expected = inverse @ (design.T @ (w * y))
    leverage = w * np.einsum("ij,jk,ik->i", design, inverse, design)
    scores = design * (w * (y - design @ expected) / (1 - leverage))[:, None]
    sums = np.stack([scores[groups == g].sum(axis=0) for g in range(12)])
    covariance = inverse @ (sums.T @ sums) @ inverse * 12 / 11
    assert fit.coefficients == pytest.approx(expected)
    assert fit.covariance == pytest.approx(covariance)
    assert fit.freedom == 11
    plain = least_squares(design, y)
    assert least_squares(design, y, RowSums(np.ones(n))).covariance == pytest.approx(plain.covariance)


GRAPHS = {
    "bp": dagora.DAG(["age", "drug", "bp"], [("age", "drug"), ("age", "bp"), ("drug", "bp")]),
    "ill": dagora.DAG(["old", "drug", "ill"], [("old", "drug"), ("old", "ill"), ("drug", "ill")]),
    "mixed": dagora.DAG(["age", "drug", "ill"], [("age", "drug"), ("age", "ill"), ("drug", "ill")]),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_whole_weights_give_the_estimate_of_repeated_rows(name: str) -> None:
    graph = GRAPHS[name]
    rows = people(400, 1)[list(graph.nodes)]
    times = RANDOM.integers(1, 4, len(rows))
    repeated = rows.loc[rows.index.repeat(times)].reset_index(drop=True)
    outcome = graph.nodes[-1]
    one = dagora.effect(rows.assign(w=times), "drug", outcome, graph=graph, weights="w")
    other = dagora.effect(repeated, "drug", outcome, graph=graph)
    # The prior of strata, and the ridge of logistic regressions, weigh a little more with fewer rows.
    assert one.estimate == pytest.approx(other.estimate, abs=5e-3 if name == "ill" else 1e-4)
    assert other.interval[1] - other.interval[0] < one.interval[1] - one.interval[0]
    assert any("the effective number" in note for note in one.notes)


@pytest.mark.parametrize("name", GRAPHS)
def test_groups_without_likeness_change_little(name: str) -> None:
    graph = GRAPHS[name]
    rows = people(600, 2)[list(graph.nodes)]
    outcome = graph.nodes[-1]
    grouped = rows.assign(g=np.arange(600) // 2)
    one = dagora.effect(grouped, "drug", outcome, graph=graph, group="g")
    other = dagora.effect(rows, "drug", outcome, graph=graph)
    assert one.estimate == pytest.approx(other.estimate, abs=2e-3)
    width, plain = (found.interval[1] - found.interval[0] for found in (one, other))
    assert 0.8 < width / plain < 1.3


@pytest.mark.full
@pytest.mark.parametrize("name", GRAPHS)
def test_intervals_of_copied_rows_are_those_of_the_rows(name: str) -> None:
    graph = GRAPHS[name]
    rows = people(500, 3)[list(graph.nodes)]
    copied = rows.loc[rows.index.repeat(8)].reset_index(drop=True)
    copied["who"] = np.repeat(np.arange(500), 8)
    outcome = graph.nodes[-1]
    grouped = dagora.effect(copied, "drug", outcome, graph=graph, group="who")
    once = dagora.effect(rows, "drug", outcome, graph=graph)
    naive = dagora.effect(copied.drop(columns="who"), "drug", outcome, graph=graph)
    widths = [found.interval[1] - found.interval[0] for found in (grouped, once, naive)]
    assert widths[0] == pytest.approx(widths[1], rel=0.1)
    assert widths[2] < 0.5 * widths[1]


@pytest.mark.full
def test_intervals_with_groups_hold_the_truth() -> None:
    held = naive = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        of_row = np.repeat(np.arange(40), 8)
        x = random.normal(size=40)[of_row] + 0.3 * random.normal(size=320)
        y = 0.5 * x + random.normal(size=40)[of_row] + 0.5 * random.normal(size=320)
        rows = pd.DataFrame({"g": of_row, "x": x, "y": y})
        graph = dagora.DAG(["x", "y"], [("x", "y")])
        low, high = dagora.effect(rows, "x", "y", graph=graph, group="g").interval
        held += low <= 0.5 <= high
        low, high = dagora.effect(rows, "x", "y", graph=graph, drop=["g"]).interval
        naive += low <= 0.5 <= high
    assert held >= 53
    assert naive <= 40


def test_averages_over_graphs_take_groups_and_weights() -> None:
    rows = people(300, 4)
    copied = rows.loc[rows.index.repeat(5)].reset_index(drop=True)
    copied["who"] = np.repeat(np.arange(300), 5)
    for names, outcome in ((["old", "drug", "ill"], "ill"), (["age", "drug", "bp"], "bp")):
        grouped = dagora.effect(copied[[*names, "who"]], "drug", outcome, group="who", draws=200)
        plain = dagora.effect(rows[names], "drug", outcome, draws=200)
        assert grouped.estimate == pytest.approx(plain.estimate, abs=0.05)
        ratio = np.ptp(grouped.interval) / np.ptp(plain.interval)
        assert 0.7 < ratio < 1.4


def test_what_takes_every_row_for_one_is_refused() -> None:
    rows = people(200, 5)[["age", "bp"]].assign(w=RANDOM.uniform(1, 2, 200))
    graph = dagora.DAG(["age", "bp"], [("age", "bp")])
    for options in ({"curve": True}, {"model": "gp"}):
        with pytest.raises(dagora.DagoraError, match='knows of no weights="w"'):
            dagora.effect(rows, "age", "bp", graph=graph, weights="w", **options)
