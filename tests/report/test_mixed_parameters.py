"""The page of a network with both kinds of node: a table per node, its regressions by configuration."""

import numpy as np

from dagora.graph.dag import DAG
from dagora.network.networks import Lines, MixedNetwork, Softmax
from dagora.report.parameters import MOST_CONFIGURATIONS, parameters


def test_every_node_has_its_table():
    network = MixedNetwork(
        DAG(["ill", "fever", "rest"], [("ill", "fever"), ("fever", "rest")]),
        {"ill": ("no", "yes"), "rest": ("short", "long")},
        {"ill": np.array([0.875, 0.125])},
        {"rest": Softmax([0.0, -76.5], [[0.0], [2.25]])},
        {"fever": Lines([36.75, 38.5], np.zeros((2, 0)), [0.375, 0.625])},
    )
    page = parameters(network).body
    for shown in ("0.875", "36.75", "38.5", "0.625", "-76.5", "2.25", "long", "logarithms of odds", "fever"):
        assert shown.replace("-", "−") in page or shown in page


def test_long_tables_are_cut():
    levels = {"a": tuple(f"level {i}" for i in range(MOST_CONFIGURATIONS + 1))}
    size = len(levels["a"])
    network = MixedNetwork(
        DAG("ax", ["ax"]),
        levels,
        {"a": np.full(size, 1 / size)},
        lines={"x": Lines(np.zeros(size), np.zeros((size, 0)), np.ones(size))},
    )
    assert f"{MOST_CONFIGURATIONS} of {size} combinations" in parameters(network).body
