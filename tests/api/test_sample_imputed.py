"""Posteriors where cells are missing: the mean over completions of the exact posteriors given each."""

import json

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.data.incomplete import IncompleteTable
from dagora.data.table import Table
from dagora.learners.run import Run
from dagora.posterior.resample.completions import completed, imputing_graph
from dagora.posterior.resample.row_draws import seeds_of
from dagora.stats.observed.statistics import IncompleteStatistics


def punched(rows=150, share=0.15, seed=0):
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=(2, rows))
    b = 0.4 * a + rng.normal(size=rows)
    values = np.column_stack([a, b, 0.3 * b + c])
    return IncompleteTable.of(Table.from_numpy(values, names="abc"), rng.random((3, rows)) > share)


def test_edges_are_the_means_of_exact_posteriors_given_each_completion():
    table = punched()
    found = dagora.sample(table, "exact", impute=4, draws=80, chains=1, seed=7)
    statistics = IncompleteStatistics(table)
    graph = imputing_graph(statistics, Run(seed=7))
    each = []
    for k in range(4):
        random, own = seeds_of(7, k)
        whole = completed(statistics, graph, random, own).rows()
        each.append(dagora.sample(whole, "exact", draws=20, chains=1).edge_probability)
    np.testing.assert_allclose(found.edge_probability, np.mean(each, axis=0), atol=1e-9)
    assert np.std(each, axis=0).max() > 0.005, "completions differ"
    assert found.draws.log_scores.size == 80
    assert "pooled over 4 completions" in found.draws.message
    assert found.settings["impute"] == 4


def test_chains_of_all_completions_stand_beside_each_other():
    found = dagora.sample(punched(), "order", impute=3, draws=150, chains=2, seed=1)
    assert found.draws.log_scores.shape == (6, 50)
    assert found.edge_probability.shape == (3, 3)


def test_refusals():
    whole = Table.from_numpy(np.random.default_rng(0).normal(size=(60, 3)), names="abc")
    with pytest.raises(DataError, match="no cell is missing"):
        dagora.sample(whole, "exact", impute=3)
    with pytest.raises(OptionError, match="impute must be a whole number from 2"):
        dagora.sample(punched(), "exact", impute=1)
    with pytest.raises(OptionError, match="impute does not go with reweight"):
        dagora.sample(punched(), "exact", impute=3, score="gp", reweight="qmc")


def test_on_the_command_line(run, tmp_path):
    table = punched()
    values = np.where(table.seen.T, np.stack([table.columns[k] for k in range(3)], axis=1), np.nan)
    pd.DataFrame(values, columns=list("abc")).to_csv(tmp_path / "m.csv", index=False)
    ran = run(
        "sample", tmp_path / "m.csv", "-m", "exact", "--impute", 3, "--draws", 30, "--chains", 1, "--json"
    )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["settings"]["impute"] == 3
    assert run("sample", tmp_path / "m.csv", "-m", "exact").code == 2
