"""Chains that have not mixed are told of, and those that have are not blamed."""

import json
import math

import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.learners.run import Run
from dagora.posterior.chains.partition_mcmc import partition_mcmc
from dagora.posterior.summary.agreement import CHANCE, MATERIAL, agreement, limit_beyond_chance
from dagora.posterior.summary.diagnostics import plain_rhat, rhat
from dagora.posterior.summary.mixing import (
    LIMIT_EDGE_RHAT,
    MIXED,
    NOT_MIXED,
    UNKNOWN,
    diagnose,
    mixing_warnings,
)
from tests.posterior.oracle import TwoModes, draws_of

FORWARD, BACKWARD = DAG("ab", [("a", "b")]), DAG("ab", [("b", "a")])
EMPTY = DAG("ab")


def coins(seed: int, chains: int, draws: int, heads: float = 0.5) -> list[list[DAG]]:
    tossed = np.random.default_rng(seed).random((chains, draws)) < heads
    return [[FORWARD if head else EMPTY for head in chain] for chain in tossed]


def test_good_chains_are_not_blamed() -> None:
    found = diagnose(draws_of(coins(1, 4, 1000)))
    assert mixing_warnings(found) == []
    assert (found.chains, found.draws, found.weight_ess) == (4, 1000, None)
    values = np.array([[len(graph.edges) for graph in chain] for chain in coins(1, 4, 1000)], dtype=float)
    assert found.rhat == pytest.approx(float(rhat(values)))
    assert found.edge_rhat == pytest.approx(max(1.0, float(plain_rhat(values))))
    assert 2500 < found.edge_ess < 6000
    assert "R-hat" in str(found)


def test_chains_stuck_at_equivalent_graphs() -> None:
    """Log scores agree, up to rounding; only the edges show it."""
    draws = draws_of([[FORWARD] * 500, [FORWARD] * 500, [BACKWARD] * 500, [BACKWARD] * 500])
    draws.log_scores[2:] += 1e-10
    found = diagnose(draws)
    assert found.rhat == 1.0
    assert found.edge_rhat == math.inf
    (warning, *_) = mixing_warnings(found)
    assert "not mixed" in warning
    assert "a → b is inf" in warning or "b → a is inf" in warning
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["edge_rhat"] is None


def test_one_chain_elsewhere() -> None:
    graphs = coins(2, 3, 500) + coins(3, 1, 500, heads=0.8)
    warning, *_ = mixing_warnings(diagnose(draws_of(graphs)))
    assert "R-hat of the log score is 1.0" in warning
    assert "limit 1.01" in warning


def test_sticky_chains_are_worth_little() -> None:
    graphs = [[graph for graph in chain for _ in range(20)] for chain in coins(5, 4, 50)]
    said = " ".join(mixing_warnings(diagnose(draws_of(graphs))))
    assert "worth few independent ones" in said
    assert "(400 wanted)" in said


def test_few_draws_and_one_chain() -> None:
    few = diagnose(draws_of(coins(6, 4, 3)))
    (warning,) = mixing_warnings(few)
    assert warning == "too few draws to tell whether the chains have mixed (3 draws per chain): take more"
    assert str(few) == "4 chains × 3 draws: too few to tell"
    (warning,) = mixing_warnings(diagnose(draws_of(coins(7, 1, 1000))))
    assert "single chain" in warning
    assert diagnose(draws_of(coins(1, 1, 1000))).verdict == UNKNOWN
    assert diagnose(draws_of(coins(1, 4, 1000))).verdict == MIXED


def test_independent_draws_need_no_mixing() -> None:
    found = diagnose(draws_of(coins(8, 1, 2), independent=True))
    assert mixing_warnings(found) == []
    assert math.isnan(found.rhat)


def test_one_graph_only_is_not_called_mixed() -> None:
    found = diagnose(draws_of([[FORWARD] * 200] * 4))
    assert (found.rhat, found.edge_rhat, found.edge_ess, found.edge_gap) == (1.0, 1.0, 800.0, 0.0)
    assert found.worst_edge is None
    assert found.verdict == UNKNOWN
    (warning,) = mixing_warnings(found)
    assert warning.startswith("every chain kept one graph in all 200 draws")


def test_a_chain_that_stands_still_is_named() -> None:
    found = diagnose(draws_of([*coins(1, 3, 500, heads=0.995), [EMPTY] * 500]))
    assert found.still == (4,)
    assert found.verdict != MIXED
    assert "chain 4 of 4 kept one graph" in " ".join(mixing_warnings(found))


def test_edges_apart_are_named_worst_first_in_each_direction() -> None:
    """Two chains have a → b half as often again as the others; R-hat alone, at 1.05, would let that pass."""
    rng = np.random.default_rng(4)
    often = [0.4, 0.4, 0.6, 0.6]
    chains = [[FORWARD if toss < p else BACKWARD for toss in rng.random(1000)] for p in often]
    found = diagnose(draws_of(chains))
    assert found.edge_rhat < LIMIT_EDGE_RHAT
    assert found.verdict == NOT_MIXED
    assert {(edge.tail, edge.head) for edge in found.apart} == {("a", "b"), ("b", "a")}
    assert found.edges_apart == 2
    assert found.edge_gap == pytest.approx(found.apart[0].highest - found.apart[0].lowest)
    (warning,) = mixing_warnings(found)
    assert f"chains have these edges unequally often: {found.apart[0]}, {found.apart[1]}" in warning
    assert json.loads(json.dumps(found.to_dict()))["apart"][0]["tail"] in {"a", "b"}


@pytest.mark.full
@pytest.mark.parametrize(
    ("draws", "stay"), [pytest.param(1000, 0.0, marks=pytest.mark.slow), (1000, 0.8), (100, 0.0)]
)
def test_chains_that_have_mixed_are_seldom_blamed(draws: int, stay: float) -> None:
    """Edges that come and go, at stationarity from the first draw: 90 of them, 4 chains, 60 times."""
    rng = np.random.default_rng(draws)
    blamed = 0
    for _ in range(60):
        frequency = rng.uniform(0.02, 0.98, 90)
        present = rng.random((4, draws, 90)) < frequency
        kept = rng.random((4, draws, 90)) < stay
        for t in range(1, draws):
            present[:, t] = np.where(kept[:, t], present[:, t - 1], present[:, t])
        found = agreement(present)
        limit = limit_beyond_chance(LIMIT_EDGE_RHAT, 8, draws // 2, 90)
        apart = (found.chance < CHANCE / 90) & (found.highest - found.lowest >= MATERIAL)
        blamed += bool((apart | (found.rhat > limit)).any())
    assert blamed <= 1


@pytest.mark.full
def test_chains_in_different_modes_are_told_and_chains_in_one_are_not_called_mixed() -> None:
    """Two modes without a way between them: from random starts, four chains meet in one mode about 1 in 8."""
    found = [diagnose(partition_mcmc(TwoModes(5), Run(seed=seed), draws=50, chains=4)) for seed in range(12)]
    verdicts = [each.verdict for each in found]
    assert MIXED not in verdicts
    assert verdicts.count(NOT_MIXED) >= 8
    worst = next(each for each in found if each.verdict == NOT_MIXED)
    assert worst.apart[0].highest - worst.apart[0].lowest == 1.0


def test_weights() -> None:
    weights = np.full((4, 100), -math.inf)
    weights[0, :7] = 3.0
    found = diagnose(draws_of(coins(9, 4, 100), log_weights=weights))
    assert found.weight_ess == pytest.approx(7.0)
    assert "weights worth 7 draws" in str(found)
