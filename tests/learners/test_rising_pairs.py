"""Scales of answers that rise together without an edge."""

import numpy as np

import dagora
from dagora.learners.rising_pairs import rising_pairs


def items(rng, rows=150, weight=1.2):
    """Two items of a trait and one of its own, from 1 to 7."""
    trait = weight * rng.normal(size=rows)

    def item(of):
        return np.clip(np.round(4 + of + 1.6 * rng.normal(size=rows)), 1, 7).astype(int)

    return {"item1": item(trait), "item2": item(trait), "z": item(0.0)}


def lines(result):
    return [line for line in result.warnings if "rise together" in line or "against each other" in line]


def test_items_without_an_edge_that_a_correlation_shows_are_told():
    told = [
        lines(dagora.learn(items(np.random.default_rng(seed), weight=1.4), discrete=["all"]))
        for seed in range(5)
    ]
    assert sum(map(bool, told)) >= 3
    line = next(one[0] for one in told if one)
    assert line.startswith("'item1' and 'item2' rise together (correlation 0.")
    assert 'declare both continuous (continuous=["item1"], …)' in line


def test_noise_words_and_adjacent_items_are_not():
    for seed in range(10):
        noise = {name: np.random.default_rng([seed, k]).integers(1, 8, 200) for k, name in enumerate("abcd")}
        assert not lines(dagora.learn(noise, "hill-climb", discrete=["all"]))
    table = dagora.Table.from_numpy(np.column_stack([[1, 2, 3, 4, 5] * 20] * 2), ["a", "b"], discrete=["all"])
    assert rising_pairs(table, dagora.DAG("ab", [("a", "b")])) == []
    assert rising_pairs(table, dagora.DAG("ab")) != []


def test_items_that_go_against_each_other_are_told():
    codes = np.array([1, 2, 3, 4, 5] * 20)
    table = dagora.Table.from_numpy(np.column_stack([codes, 6 - codes]), ["a", "b"], discrete=["all"])
    assert rising_pairs(table, dagora.DAG("ab"))[0].startswith("'a' and 'b' go against each other")
