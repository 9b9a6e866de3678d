"""Learning over sites equals learning on the pooled rows, whatever the method."""

import numpy as np
import pytest

import dagora
from dagora.data.partition import split_rows
from dagora.data.schema import Kind
from dagora.demo_network import greenhouse
from dagora.errors import DataError, OptionError, ProtocolError, RowsUnavailableError
from dagora.federated import learn_federated, with_traffic
from dagora.network.sample import sample
from dagora.parties.transport.ledger import Ledger


def sites(table, parties=3):
    return {f"site{k}": part for k, part in enumerate(split_rows(table, parties, seed=1))}


def gaussian(rows=400):
    return dagora.simulate(dagora.random_dag("er", 8, 1.5, seed=4), "gaussian", rows, seed=4).table


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "ges", "k2", "order-search", "dynamic", "ilp"])
@pytest.mark.parametrize("kind", list(Kind))
def test_the_graph_is_that_of_the_pooled_rows(method, kind):
    table = sample(greenhouse(), 600, seed=2) if kind is Kind.DISCRETE else gaussian()
    pooled = dagora.learn(table, method)
    over_sites = learn_federated(sites(table), method)
    assert over_sites.graph == pooled.graph
    assert over_sites.score == pytest.approx(pooled.score, rel=1e-12)
    assert over_sites.status == pooled.status
    assert over_sites.stats["rounds"] > 0
    assert over_sites.stats["bytes_from_site1"] > 0


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("method", ["order-search", "ilp"])
def test_ties_among_equivalent_graphs_are_settled_alike(method, seed):
    table = dagora.simulate(dagora.random_dag("er", 8, 1.5, seed=seed), "gaussian", 900, seed=seed).table
    assert learn_federated(sites(table), method).graph == dagora.learn(table, method).graph


def test_notears_needs_a_handful_of_rounds():
    table = gaussian()
    pooled = dagora.learn(table, "notears")
    over_sites = learn_federated(sites(table, 5), "notears")
    assert over_sites.graph == pooled.graph
    assert np.abs(over_sites.weights - pooled.weights).max() < 1e-9
    assert over_sites.stats["rounds"] <= 8


def test_adding_in_the_clear_gives_the_same():
    table = sample(greenhouse(), 300, seed=2)
    assert learn_federated(sites(table), secure=False).graph == learn_federated(sites(table)).graph


def test_methods_that_need_rows_refuse():
    with pytest.raises(RowsUnavailableError, match="rows"):
        learn_federated(sites(gaussian(100)), "notears-mlp")


def test_two_sites_need_to_say_so():
    table = sample(greenhouse(), 200, seed=2)
    with pytest.raises(OptionError, match=r"at least 3 are needed: .*; minimum=2 accepts that"):
        learn_federated(sites(table, 2))
    assert learn_federated(sites(table, 2), minimum=2).graph == dagora.learn(table).graph


def test_a_site_cannot_be_called_coordinator():
    table = sample(greenhouse(), 200, seed=2)
    with pytest.raises(ProtocolError, match="coordinator"):
        learn_federated(dict(zip(["coordinator", "b", "c"], split_rows(table, 3), strict=True)))


def test_bad_options_end_everybody():
    with pytest.raises(OptionError, match="restrats"):
        learn_federated(sites(sample(greenhouse(), 100, seed=2)), restrats=3)


@pytest.mark.parametrize("method", ["admm", "vote", "average", "notears"])
@pytest.mark.parametrize(
    ("unit", "line"), [(1e300, "too large to be squared"), (1e-200, "too small to be sq")]
)
def test_units_beyond_what_can_be_squared_are_refused(method, unit, line):
    rows = np.random.default_rng(0).normal(size=(30, 3)) * np.array([unit, 1.0, 1.0])
    table = dagora.Table.from_numpy(rows, names=list("abc"))
    with pytest.raises(DataError, match=rf"column 'a' .*{line}"):
        learn_federated(sites(table), method)


def test_traffic_is_counted_per_party_and_direction():
    ledger = Ledger("coordinator")
    ledger.sent("a", "ask", payload=1, wire=10)
    ledger.received("a", "answer", payload=2, wire=300)
    ledger.sent("b", "ask", payload=1, wire=20)
    result = dagora.learn(sample(greenhouse(), 50, seed=2))
    stats = with_traffic(result, ledger.books()).stats
    assert (stats["bytes_to_a"], stats["bytes_from_a"], stats["bytes_to_b"], stats["bytes_from_b"]) == (
        10,
        300,
        20,
        0,
    )
    assert stats["rounds"] == 2


def test_a_site_brings_whatever_learn_takes(tmp_path):
    table = sample(greenhouse(), 300, seed=2)
    parts = dict(zip(["north", "south", "west"], split_rows(table, 3), strict=True))
    dagora.write_table(parts["north"], tmp_path / "north.parquet")
    mixed = {
        "north": str(tmp_path / "north.parquet"),
        "south": parts["south"].to_pandas(),
        "west": parts["west"].to_polars(),
    }
    assert learn_federated(mixed).graph == learn_federated(parts).graph == dagora.learn(table).graph
