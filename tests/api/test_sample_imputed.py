"""Posteriors where cells are missing: the mean over completions of the exact posteriors given each."""

import json

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.api.pooled_posterior import pooled_draws
from dagora.base.errors import DataError, OptionError
from dagora.data.incomplete import IncompleteTable
from dagora.data.table import Table
from dagora.learners.run import Run
from dagora.posterior.draws import Draws
from dagora.posterior.resample.completions import completed, imputing_graph
from dagora.posterior.resample.row_draws import seeds_of
from dagora.posterior.summary.diagnostics import rhat
from dagora.posterior.summary.posterior import Posterior
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


def by_completion(found, number):
    """The share of draws with each edge, given each completion."""
    graphs = found.draws.parents[..., 0].astype(np.int64).reshape(number, -1, 3)
    return (graphs[:, :, None, :] >> np.arange(3)[:, None] & 1).mean(axis=1)


def test_errors_are_those_of_the_completions_also_where_edges_are_exact():
    for method in ("exact", "order"):
        found = dagora.sample(punched(share=0.4), method, impute=4, draws=160, chains=2, seed=7)
        error = by_completion(found, 4).std(axis=0, ddof=1) / 2
        assert error.max() > 0.01
        np.testing.assert_allclose(found.edge_error, error)
        edge = found.feature("edge", "a", "b")
        assert edge.error == pytest.approx(error[0, 1])
        assert edge.mean == pytest.approx(found.edge_probability[0, 1])
        assert found.expected_fp(dagora.DAG("abc")).error > 0


@pytest.mark.full
def test_what_a_prior_did_is_pooled():
    known = {"prior": [["b", "a", 0.95]]}
    for method in ("exact", "order"):
        found = dagora.sample(punched(share=0.4), method, impute=3, draws=150, seed=2, knowledge=known)
        effect = found.prior_effect
        np.testing.assert_allclose(effect.with_prior, found.edge_probability, atol=1e-9)
        plain = dagora.sample(punched(share=0.4), "exact", impute=3, draws=150, seed=2).edge_probability
        np.testing.assert_allclose(effect.without, plain, atol=1e-9 if method == "exact" else 0.15)
        assert (effect.worth is None) == (method == "exact")


@pytest.mark.full
def test_chains_given_different_completions_need_not_agree_also_when_read_again():
    found = dagora.sample(punched(share=0.4), "partition", impute=3, draws=1500, chains=2, seed=1)
    assert found.diagnostics.chains == 2
    again = Posterior.from_json(found.to_json())
    assert again.diagnostics == found.diagnostics
    assert again.status == found.status
    np.testing.assert_array_equal(again.edge_error, found.edge_error)
    assert rhat(found.draws.log_scores) > 1.5, "their scores are those of different tables"


def test_graphs_of_different_completions_are_compared_by_their_share():
    found = dagora.sample(punched(share=0.4), "exact", impute=3, draws=300, seed=1)
    assert found.score is None
    assert found.best_graph == found.graphs(most=1)[0][0]


def test_particles_of_each_completion_have_the_same_weight():
    graphs, scores = np.zeros((1, 4, 2, 1), dtype=np.uint64), np.zeros((1, 4))
    each = [
        Draws(("a", "b"), graphs, scores, "", "", "finished", "", log_weights=scores - 300.0 * k)
        for k in range(3)
    ]
    weights = np.exp(pooled_draws(each, 3).log_weights)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)


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
    pd.DataFrame(values).fillna(0.5).set_axis(list("abc"), axis=1).to_csv(tmp_path / "whole.csv", index=False)
    refused = run("sample", tmp_path / "whole.csv", "--impute", 3)
    assert refused.code == 2
    assert "no cell is missing" in refused.err
