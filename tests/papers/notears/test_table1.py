"""Table 1 at a small size: the objective against the rows themselves, the optimum against all orders."""

import csv
import itertools
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.learners.run import Run
from dagora.papers.experiment import Size
from dagora.papers.notears import table1
from dagora.papers.notears.contenders import simulate_cell
from dagora.papers.notears.table1 import objective
from dagora.stats.moments import table_moments

CELL = {"graph": "ER2", "d": 4, "n": 20, "lambda1": 0.0, "noise": "gaussian", "seed": 3}


def test_the_objective_is_that_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    simulation = simulate_cell({**CELL, "n": 50})
    X = np.column_stack(simulation.table.columns)
    X = X - X.mean(axis=0)
    W = rng.standard_normal((4, 4))
    by_hand = ((X - X @ W) ** 2).sum() / 100 + 0.3 * np.abs(W).sum()
    assert objective(table_moments(simulation.table), W, 0.3) == pytest.approx(by_hand)


def test_the_optimum_without_penalty_is_the_best_order() -> None:
    simulation = simulate_cell(CELL)
    X = np.column_stack(simulation.table.columns)
    X = X - X.mean(axis=0)

    def residual(order: tuple[int, ...]) -> float:
        total = 0.0
        for k, j in enumerate(order):
            before = X[:, list(order[:k])]
            total += ((X[:, j] - before @ np.linalg.lstsq(before, X[:, j], rcond=None)[0]) ** 2).sum()
        return total / (2 * len(X))

    numbers = table1.measure(CELL, Run())
    assert numbers["optimum"] == pytest.approx(min(map(residual, itertools.permutations(range(4)))))
    assert numbers["proved"]


@pytest.mark.parametrize("lambda1", [0.0, 0.5])
@pytest.mark.parametrize("graph", ["ER2", "SF4"])
def test_nothing_acyclic_is_below_the_optimum(lambda1: float, graph: str) -> None:
    numbers = table1.measure({**CELL, "d": 6, "graph": graph, "lambda1": lambda1}, Run())
    for point in ("truth", "path_solution", "path_thresholded", "path_refitted", "published_refitted"):
        assert numbers[point] >= numbers["optimum"] * (1 - 1e-6)
    # W_ECP of algorithm 1 need only be nearly acyclic
    assert numbers["published_solution"] >= numbers["optimum"] * (1 - 1e-3)
    for name in ("path_thresholded", "published_thresholded", "path_refitted", "published_refitted"):
        assert numbers[f"{name}_delta"] == pytest.approx(numbers["optimum"] - numbers[name])
        share = numbers[name] / numbers["optimum"]
        assert numbers[f"{name}_excess"] == pytest.approx(100 * (share - 1), abs=1e-9)
        assert numbers[f"{name}_distance"] >= 0


def test_distances_are_to_the_weights_of_the_optimum() -> None:
    """On easy data everything finds the true graph, so that all distances are those of estimated weights."""
    numbers = table1.measure({**CELL, "n": 100_000, "d": 3, "seed": 1}, Run())
    assert 0 < numbers["truth_distance"] < 0.05
    for name in ("path_thresholded", "published_thresholded"):
        assert numbers[f"{name}_distance"] < 0.05
    assert numbers["path_refitted_distance"] == pytest.approx(0, abs=1e-6)
    assert numbers["published_refitted_distance"] == pytest.approx(0, abs=1e-6)


def test_verdicts_are_like_for_like() -> None:
    low, high = 1.0, 2.0
    plain = {table1.THE_PAPER: high, table1.OURS: low, table1.ALGORITHM_1: high + 1}
    refitted = {f"{table1.OURS}, refitted": high, f"{table1.ALGORITHM_1}, refitted": low}
    unrefitted, refit = table1.verdicts([{**plain, **refitted}])
    assert "than the paper's in 1 of 1 rows" in unrefitted
    assert f"that of {table1.ALGORITHM_1} in 0 of 1 rows" in unrefitted
    assert "0 of 1 rows" in refit
    assert "the paper's" not in refit


def test_the_cut_optimum_says_what_the_threshold_alone_changes() -> None:
    numbers = table1.measure({**CELL, "d": 6}, Run())
    assert numbers["exact_solution"] == pytest.approx(numbers["optimum"])
    assert numbers["exact_thresholded"] >= numbers["optimum"]
    cell = table1.MeasuredCell({**CELL, "graph": "ER2"}, {**numbers, "published_same": True})
    [said] = table1.distances([cell])
    alone = f"{numbers['exact_thresholded_distance']:.2f}"
    assert f"is {alone} to {alone} from W_G" in said
    assert "on 1 of 1 tables" in said
    ours = numbers["published_thresholded_distance"] / 4
    assert f"{ours:.2f} ({table1.PAPER[20, 0.0, 'ER2'][-1]})" in said


def test_the_full_size_is_that_of_the_paper() -> None:
    cells = table1.table1(Size(full=True)).cells
    assert len(cells) == 8 * 10
    assert {(cell["n"], cell["lambda1"], cell["graph"]) for cell in cells} == set(table1.PAPER)
    quick = table1.table1(Size(seed=7)).cells
    assert {cell["seed"] for cell in quick} == {7, 8, 9}


def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table1, "NODES", 5)
    monkeypatch.setattr(table1, "QUICK_RUNS", 2)
    keys = [(20, 0.5, "ER2"), (20, 0.0, "SF4")]
    monkeypatch.setattr(table1, "PAPER", {key: table1.PAPER[key] for key in keys})
    ran = run("reproduce", "notears/table1", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    content = json.loads(ran.out)
    rows = content["tables"][0]["rows"]
    lines = [table1.THE_PAPER, *table1.LINES]
    assert [row[:4] for row in rows] == [
        [20, *head, line] for head in (["0.5", "ER2"], ["0", "SF4"]) for line in lines
    ]
    assert rows[0][4:11] == [16.04, 12.81, 12.90, 13.49, -0.68, 0.12, None]  # the paper's line
    assert all(row[-1] == 2 for row in rows if row[3] != table1.THE_PAPER)
    header, _, first, *_ = csv.reader((tmp_path / "notears-table1.csv").read_text().splitlines())
    assert float(first[header.index("F(W_G)")]) == rows[1][5]["mean"]
    svg = ET.parse(tmp_path / "notears-table1-objective.svg").getroot()
    assert sum(e.get("id", "").startswith("axes_") for e in svg.iter()) == 2
    page = (tmp_path / "notears-table1.md").read_text()
    assert "(notears-table1-objective.svg)" in page
    assert "19/20" in page
