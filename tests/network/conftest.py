"""Small networks whose every probability can be worked out by hand or by enumeration."""

import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork, GaussianNetwork


@pytest.fixture(scope="session")
def clinic():
    """Five nodes in an order that is not topological, 2 to 4 levels, one impossible level."""
    nodes = ["cough", "smoker", "tumour", "scan", "season"]
    edges = [
        ("smoker", "tumour"),
        ("tumour", "cough"),
        ("season", "cough"),
        ("tumour", "scan"),
        ("smoker", "cough"),
    ]
    graph = DAG(nodes, edges)
    levels = {
        "cough": ("none", "some", "bad"),
        "smoker": ("no", "yes"),
        "tumour": ("no", "yes"),
        "scan": ("clear", "shadow", "unread"),
        "season": ("winter", "spring", "summer", "autumn"),
    }
    rng = np.random.default_rng(7)
    tables = {}
    for node in nodes:
        shape = tuple(len(levels[name]) for name in (*graph.parents(node), node))
        table = rng.dirichlet(np.full(shape[-1], 2.0), size=shape[:-1])
        tables[node] = table
    tables["scan"] = np.array([[0.9, 0.1, 0.0], [0.0, 0.8, 0.2]])
    return DiscreteNetwork(graph, levels, tables)


@pytest.fixture(scope="session")
def growth():
    """A linear-Gaussian network of four nodes in an order that is not topological."""
    graph = DAG(
        ["yield", "rain", "soil", "price"],
        [("rain", "yield"), ("soil", "yield"), ("rain", "soil"), ("yield", "price")],
    )
    return GaussianNetwork(
        graph,
        {"yield": 1.0, "rain": -2.0, "soil": 0.5, "price": 10.0},
        {
            "yield": np.array([0.7, -1.3]),
            "rain": np.zeros(0),
            "soil": np.array([0.4]),
            "price": np.array([-2.0]),
        },
        {"yield": 0.5, "rain": 1.5, "soil": 2.0, "price": 0.3},
    )
