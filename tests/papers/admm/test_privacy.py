"""The attacks on ADMM succeed, shown or summed; what is additive over rows gives them nothing to work on."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.learners.run import Run
from dagora.papers.admm import privacy
from dagora.papers.admm.attack import (
    centre_rows,
    count_recovered_rows,
    open_sites,
    relative_error,
    run_first_round,
    run_summed_rounds,
)
from dagora.papers.admm.contenders import dealt_out, simulate_cell
from dagora.papers.admm.power_sums import covariances_from, eigenpairs, power_sums
from dagora.parties.horizontal.plan.coded_rows import code_rows
from dagora.parties.horizontal.session.row_sums import moments

CELL = {"sem": "gaussian", "d": 8, "n": 20, "sites": 5, "seed": 2}
SQUARE = {"sem": "gaussian", "d": 4, "n": 64, "sites": 4, "seed": 1}


def tables_of(cell: dict) -> dict:
    return dealt_out(simulate_cell(cell).table, cell["sites"])


def covariances(tables: dict) -> list:
    n = sum(table.n_rows for table in tables.values())
    return [centre_rows(table).T @ centre_rows(table) / n for table in tables.values()]


def test_the_published_round_is_equation_10() -> None:
    tables = tables_of(CELL)
    found = run_first_round(tables)
    assert found.rho == 0.001
    for name, table in tables.items():
        x = centre_rows(table)
        S = x.T @ x / 20
        by_hand = np.linalg.solve(S + 0.001 * np.eye(8), S)
        np.testing.assert_allclose(found.weights[name], by_hand, atol=1e-9)


def test_sums_of_rounds_are_power_sums_whatever_the_weights() -> None:
    tables = tables_of(SQUARE)
    record = run_summed_rounds(tables, 8, Run())
    assert not np.allclose(record.weights[0], record.weights[-1], atol=0.01), "W moves, ρ does not"
    found = power_sums(record)
    scaled = [S / np.outer(record.unit, record.unit) for S in covariances(tables)]
    shrunk = [S @ np.linalg.inv(S + record.rho * np.eye(4)) for S in scaled]
    for j, power in enumerate(found):
        expected = sum(np.linalg.matrix_power(N, j + 1) for N in shrunk)
        np.testing.assert_allclose(power, expected, atol=1e-12)
    values, _ = eigenpairs(found)
    np.testing.assert_allclose(
        values, np.sort(np.concatenate([np.linalg.eigvalsh(N) for N in shrunk])), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize(("cell", "rounds"), [(SQUARE, 8), (CELL, 6)])
def test_masked_sums_of_a_few_rounds_give_every_site_away(cell: dict, rounds: int) -> None:
    tables = tables_of(cell)
    found = covariances_from(run_summed_rounds(tables, rounds, Run()), cell["sites"])
    assert len(found) == cell["sites"]
    for S in covariances(tables):
        assert min(relative_error(guess, S) for guess in found) < 1e-5


def test_the_sums_that_the_attack_uses_show_no_single_answer() -> None:
    """The coordinator is told one number for all sites, not those of one."""
    tables = tables_of(SQUARE)
    record = run_summed_rounds(tables, 3, Run())
    for S in covariances(tables):
        own = S / np.outer(record.unit, record.unit)
        answer = record.rho * np.linalg.solve(own + record.rho * np.eye(4), own)
        assert not any(np.allclose(total, answer, rtol=0.01) for total in record.sums)


def additive_sums(tables: dict) -> np.ndarray:
    """All that moments over sites need: n, Σz and Σzzᵀ of rows z rounded to integers, over the sites."""
    sites = open_sites(tables)
    coded = (code_rows(site.table, sites.codebook, sites.largest_rows) for site in sites.sites)
    return np.asarray(sum(moments(rows) for rows in coded))


@pytest.mark.parametrize("seed", range(3))
def test_sums_that_are_additive_over_rows_are_the_same_however_rows_are_spread(seed: int) -> None:
    """Any estimator of a site's covariance gives one answer for all splits: bit for bit, nothing to go by."""
    table = simulate_cell({**CELL, "seed": seed}).table
    rng = np.random.default_rng(seed)
    straight = dealt_out(table, 5)
    shuffled = dealt_out(table.take(rng.permutation(table.n_rows)), 5)
    few = dealt_out(table.take(rng.permutation(table.n_rows)), 3)
    expected = additive_sums(straight)
    for other in (shuffled, few):
        assert np.array_equal(additive_sums(other), expected)
    differ = [relative_error(a, b) for a, b in zip(covariances(straight), covariances(shuffled), strict=True)]
    assert min(differ) > 0.05, "though every site has other rows"
    # ADMM is not additive: its sums tell the splits apart.
    one, two = (run_summed_rounds(tables, 2, Run()).sums for tables in (straight, shuffled))
    assert not np.allclose(one[0], two[0], rtol=1e-3)


def test_the_numbers_of_the_page() -> None:
    numbers = privacy.measure(CELL, Run())
    assert numbers["shown_most"] < 1e-9
    assert numbers["shown_rows"] == numbers["sums_rows"] == 20
    assert numbers["sums_most"] < 1e-6
    assert numbers["total_least"] > 0.1
    assert numbers["total_rows"] == 0


def test_rows_are_counted_up_to_rotation_only() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4, 9))
    rows -= rows.mean(axis=0)
    S = rows.T @ rows / 40
    assert count_recovered_rows(S, rows, 40) == 4
    assert count_recovered_rows(1.001 * S, rows, 40) == 0
    assert count_recovered_rows(rng.standard_normal((9, 9)), rows, 40) == 0


def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privacy, "QUICK", ((6, 4, 4),))
    monkeypatch.setattr(privacy, "QUICK_RUNS", 2)
    ran = run("reproduce", "admm/privacy", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    rows = json.loads(ran.out)["tables"][0]["rows"]
    assert [row[2] for row in rows] == list(privacy.VIEWS.values())
    assert float(rows[0][5]) < 1e-9
    assert float(rows[1][5]) < 1e-5
    assert float(rows[2][3]) > 0.1
    assert (rows[0][6]["mean"], rows[0][7]) == (16, 16)
    assert "do not change that" in (tmp_path / "admm-privacy.md").read_text()
    assert (tmp_path / "admm-privacy-recovered.svg").read_text().count('id="axes_') == 2
