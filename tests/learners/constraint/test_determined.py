"""Methods that test independence say which columns others determine."""

import numpy as np
import pytest

import dagora
from dagora.learners.constraint.determined import find_determined
from dagora.stats.accepting import as_statistics


@pytest.mark.parametrize("method", ["pc", "fci"])
def test_asia_is_told_and_a_score_keeps_its_edges(data_dir, method):
    network = dagora.read_network(data_dir / "networks/asia.bif.gz")
    table = network.sample(5000, seed=1)
    told = "\n".join(dagora.learn(table, method).warnings)
    assert "'either' by 'lung' and 'tub'" in told or "'either' by 'tub' and 'lung'" in told
    assert f"{method} loses edges at them" in told
    assert "determine" not in "\n".join(dagora.learn(table, "tabu").warnings)


@pytest.mark.parametrize("name", ["alarm", "cancer", "earthquake", "survey", "sachs", "child"])
def test_networks_without_such_columns_are_not_accused(data_dir, name):
    network = dagora.read_network(data_dir / f"networks/{name}.bif.gz")
    for rows in (300, 3000):
        assert find_determined(as_statistics(network.sample(rows, seed=1))) == []


def test_a_total_beside_its_parts_is_told():
    draw = np.random.default_rng(0)
    a, b = draw.standard_normal((2, 300))
    table = {"a": a, "b": b, "total": a + b, "c": draw.standard_normal(300)}
    told = "\n".join(dagora.learn(table, "pc").warnings)
    assert "'total' by 'a' and 'b'" in told


def test_many_levels_in_few_rows_are_not_accused():
    draw = np.random.default_rng(0)
    table = {f"x{i}": draw.integers(0, 8, 60).astype(str) for i in range(4)}
    assert find_determined(as_statistics(table)) == []
