"""ADMM over series: consensus on the pooled optimum of DYNOTEARS' program, and questions that sites refuse."""

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.base.errors import ProtocolError
from dagora.data.partition import split_series
from dagora.data.series import Timing
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.parties.horizontal.learners.admm_dynamic import admm_dynamic
from dagora.parties.horizontal.learners.admm_site import lagged_loss, lagged_step
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.session.federation import OpenFederation, Site, in_series

TIMING = Timing("t", "series")


def federation(seed=3, d=4, lags=1, sites=3):
    table = dagora.simulate_series(dagora.random_dag("er", d, 1, seed), 60, seed, lags=lags, series=6).table
    parts = split_series(table, TIMING, sites)
    ordered, length = in_series([Site(f"site{k}", part) for k, part in enumerate(parts)], TIMING)
    return table, OpenFederation.over(ordered, TASKS, None, length, lags)


def test_the_sites_agree_on_the_optimum_of_the_pooled_program():
    table, sites = federation()
    pooled = dagora.learn(table, "dynotears", time="t", series="series")
    found = admm_dynamic(sites, Run(), tolerance=1e-5, max_rounds=5000)
    assert found.status == "finished"
    assert found.graph == pooled.graph
    np.testing.assert_allclose(found.weights, pooled.weights, atol=1e-4)
    # Both are the penalised loss on that graph.
    assert found.score == pytest.approx(pooled.score, rel=1e-6)


@pytest.mark.full
def test_knowledge_is_obeyed():
    _, sites = federation()
    free = admm_dynamic(sites, Run()).graph
    lagged = next(edge for edge in free.edges if "[t-" in edge[0])
    within = next(edge for edge in free.edges if "[t-" not in edge[0])
    known = Knowledge(forbidden=[lagged, within], required=[(within[1], within[0])])
    found = admm_dynamic(sites, Run(known)).graph
    assert lagged not in found.edges
    assert (within[1], within[0]) in found.edges


def test_out_of_time_there_is_a_graph():
    _, sites = federation()
    found = admm_dynamic(sites, Run(budget=Budget(1e-9)))
    assert found.status == "time-limit"
    assert found.graph.edges == ()


def first(**changes):
    question = {
        "n": 100, "mean": np.zeros(8), "unit": np.ones(8), "weights": np.zeros((8, 4)), "rho": 1.0,
    }  # fmt: skip
    return {**question, **changes}


HOSTILE = {
    "more lags than the plan has": (first(weights=np.zeros((12, 4))), "'weights'"),
    "a unit of zero": (first(unit=np.zeros(8)), "'unit'"),
    "a mean that is not finite": (first(mean=np.full(8, np.nan)), "'mean'"),
    "no rows": (first(n=0), "'n'"),
    "another field": (first(lags=5), "the fields must be"),
    "no rho": ({"weights": np.zeros((8, 4))}, "the fields must be"),
    "a round before the first": ({"weights": np.zeros((8, 4)), "rho": 1.0}, "before the first question"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_site_refuses(what):
    question, words = HOSTILE[what]
    _, sites = federation()
    with pytest.raises(ProtocolError, match=words):
        lagged_step(sites.sites[0], question)


def test_a_site_without_a_plan_about_series_refuses():
    _, sites = federation()
    site = sites.sites[0]
    for stranger in (Site("a", site.table), Site("a", site.table, panel=site.panel)):
        for task, question in ((lagged_step, first()), (lagged_loss, {"weights": np.zeros((8, 4))})):
            with pytest.raises(ProtocolError, match="the plan is not about series"):
                task(stranger, question)
