"""Chains that have not mixed are told of, and those that have are not blamed."""

import json
import math

import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.posterior.summary.diagnostics import plain_rhat, rhat
from dagora.posterior.summary.mixing import diagnose, mixing_warnings
from tests.posterior.oracle import draws_of

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


def test_independent_draws_need_no_mixing() -> None:
    found = diagnose(draws_of(coins(8, 1, 2), independent=True))
    assert mixing_warnings(found) == []
    assert math.isnan(found.rhat)


def test_one_graph_only_is_mixed() -> None:
    found = diagnose(draws_of([[FORWARD] * 200] * 4))
    assert (found.rhat, found.edge_rhat, found.edge_ess) == (1.0, 1.0, 800.0)
    assert found.worst_edge is None
    assert mixing_warnings(found) == []


def test_weights() -> None:
    weights = np.full((4, 100), -math.inf)
    weights[0, :7] = 3.0
    found = diagnose(draws_of(coins(9, 4, 100), log_weights=weights))
    assert found.weight_ess == pytest.approx(7.0)
    assert "weights worth 7 draws" in str(found)
