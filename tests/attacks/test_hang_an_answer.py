"""Whoever sends a graph or a saved network wants a question about it that never ends, or that takes all memory."""

import json
import tracemalloc
from itertools import combinations, islice

import numpy as np
import pytest

import dagora
from dagora.formats.registry import read_network
from dagora.graph.bit_sets import bit_rows
from dagora.graph.cpdag import CPDAG
from dagora.graph.parent_sets import parent_sets

AROUND = 40


def lines_to_a_clique(around: int) -> CPDAG:
    """x is joined by a line to each node of a clique whose own edges all have a direction."""
    clique = [f"v{number}" for number in range(around)]
    return CPDAG(["x", *clique], list(combinations(clique, 2)), [("x", node) for node in clique])


@pytest.mark.parametrize("reverse", [False, True])
def test_parents_are_found_without_trying_all_sets(reverse):
    """Of 2⁴⁰ sets of neighbours, 41 may come before x. Before, each of them was looked at."""
    matrix = lines_to_a_clique(AROUND).to_numpy()
    matrix = matrix[::-1, ::-1] if reverse else matrix
    x = AROUND if reverse else 0
    found = list(islice(parent_sets(bit_rows(matrix), bit_rows(matrix.T), x), 1000))
    assert sorted(before.bit_count() for before, _ in found) == list(range(AROUND + 1))


def test_an_effect_over_such_a_class(tmp_path):
    file = tmp_path / "graph.json"
    graph = lines_to_a_clique(AROUND)
    edges = {"edges": graph.edges, "undirected": graph.undirected}
    file.write_text(json.dumps({"nodes": graph.nodes, **edges}), encoding="utf-8")
    values = np.random.default_rng(1).normal(size=(200, AROUND + 1))
    rows = dagora.Table.from_numpy(values, names=graph.nodes)
    assert len(dagora.effect(rows, "x", f"v{AROUND - 1}", graph=file).members) == AROUND + 1


@pytest.mark.parametrize("key", ["unsure", "unseen"])
def test_directions_of_a_network_of_many_nodes(tmp_path, key):
    """Before, all pairs of nodes were written down: 2000 took 500 MB, and 20,000 would take 50 GB."""
    names = [f"x{number}" for number in range(2000)]
    numbers = {"intercepts": dict.fromkeys(names, 0.0), "sds": dict.fromkeys(names, 1.0)}
    open_ = [["x0", "x1", [["x5", "x7"]]]] if key == "unsure" else [["x5", "x7"]]
    network = {
        "kind": "gaussian", "nodes": names, "edges": [["x0", "x1"]], **numbers,
        "coefficients": {name: {"x0": 1.0} if name == "x1" else {} for name in names},
        "origin": {"n_rows": 9, "directions": {"open": [], key: open_}},
    }  # fmt: skip
    file = tmp_path / "network.json"
    file.write_text(json.dumps(network), encoding="utf-8")
    tracemalloc.start()
    try:
        assert read_network(file).origin.directions.to_dict()[key] == open_
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()
