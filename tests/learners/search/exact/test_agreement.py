"""The exact methods agree with each other, and no heuristic beats them, on tables of up to 20 columns."""

import numpy as np
import pytest

import dagora
from dagora.formats.registry import read_network
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from tests.random_tables import random_continuous, random_discrete

EXACT = ("dynamic", "astar", "ilp")
HEURISTIC = ("order-search", "obs", "asobs", "tabu", "ges")


def check(table, score, **options):
    proved = {method: dagora.learn(table, method, score=score, **options) for method in EXACT}
    optimum = proved["dynamic"].score
    for result in proved.values():
        assert result.status == "optimal"
        assert result.score == pytest.approx(optimum, rel=1e-9)
        assert dagora.score(table, result.graph, score=score) == pytest.approx(optimum, rel=1e-9)
    for method in HEURISTIC:
        assert dagora.learn(table, method, score=score, **options).score <= optimum + 1e-9 * abs(optimum)


@pytest.mark.parametrize("score", ["bic", "bdeu", "aic"])
@pytest.mark.parametrize("rows", [100, 1000])
def test_a_known_network(score, rows):
    check(sample_network(greenhouse(), rows, seed=rows), score, max_parents=3)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_random_discrete_tables(seed):
    rng = np.random.default_rng(seed)
    check(random_discrete(rng, 150, rng.integers(2, 4, 12).tolist()), "bic")


@pytest.mark.full
@pytest.mark.parametrize(("score", "options"), [("bic-gaussian", {"penalty": 1.0}), ("bge", {})])
def test_random_continuous_tables(score, options):
    check(random_continuous(np.random.default_rng(5), 80, 9), score, max_parents=4, **options)


@pytest.mark.full
@pytest.mark.parametrize("rows", [pytest.param(200, marks=pytest.mark.slow), 1000])
def test_twenty_columns(data_dir, rows):
    check(sample_network(read_network(data_dir / "networks" / "child.bif.gz"), rows, seed=rows), "bic")
