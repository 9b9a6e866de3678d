"""Simulated tables: edge probability, standard columns, and which simulator shares what."""

import numpy as np
import pytest

from dagora.papers.gpn.simulation import simulate_cell

CELL = {"nodes": 10, "rows": 100, "probability": 0.2, "lambda": 1.0, "simulator": "text", "seed": 0}


def test_pairs_are_joined_with_the_given_probability() -> None:
    edges = [
        len(simulate_cell({**CELL, "lambda": 0.0, "rows": 2, "seed": seed})[0].edges) for seed in range(400)
    ]
    # 45 pairs: mean 9, variance 7.2, so that the mean of 400 has a standard error of 0.134
    assert np.mean(edges) == pytest.approx(9.0, abs=0.5)
    assert np.var(edges) == pytest.approx(7.2, rel=0.3)


def test_columns_are_standardised_as_in_r() -> None:
    _, table = simulate_cell(CELL)
    for i in range(10):
        assert table.values(i).mean() == pytest.approx(0, abs=1e-12)
        assert table.values(i).var(ddof=1) == pytest.approx(1)


def test_the_cell_decides_alone() -> None:
    truth, table = simulate_cell(CELL)
    again, same = simulate_cell({**CELL, "score": "bge", "draws": 7})
    assert truth == again
    assert table.equals(same)
    other_truth, other = simulate_cell({**CELL, "simulator": "code"})
    assert other_truth == truth
    assert not other.equals(table)


def test_shared_weights_make_equal_regressions() -> None:
    """In the published simulator all edges into a node have one β; at λ = 0 a regression shows it."""
    for seed in range(20):
        truth, _ = simulate_cell({**CELL, "seed": seed, "rows": 2})
        child = next((node for node in truth.nodes if len(truth.parents(node)) >= 2), None)
        if child is None:
            continue
        sizes = {}
        for simulator in ("text", "code"):
            _, table = simulate_cell(
                {**CELL, "seed": seed, "lambda": 0.0, "rows": 20_000, "simulator": simulator}
            )
            parents = [table.names.index(name) for name in truth.parents(child)]
            x = np.column_stack([table.values(i) for i in parents])
            y = table.values(table.names.index(child))
            # columns are divided by their deviations, and only roots have a known one
            roots = [k for k, name in enumerate(truth.parents(child)) if not truth.parents(name)]
            if len(roots) >= 2:
                beta = np.linalg.lstsq(x, y, rcond=None)[0][roots]
                sizes[simulator] = beta / beta[0]
        if sizes:
            assert sizes["code"] == pytest.approx(1.0, abs=0.06)
            assert not np.allclose(sizes["text"], 1.0, atol=0.06)
            return
    pytest.fail("no node with two roots as parents")
