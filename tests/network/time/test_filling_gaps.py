"""Filled cells of series: one by one and together, columns beside the network, levels in another order."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.networks import DiscreteNetwork
from dagora.network.time.time_network import TimeNetwork

GRAPH = LaggedGraph(("a",), 1, [("a", "a", 1)])


def sticky() -> TimeNetwork:
    """A chain whose best history is not made of its best levels: from middle it stays, from high it may go."""
    levels = dict.fromkeys(("a", "a[t-1]"), ("high", "middle", "low"))
    moves = np.array([[0.35, 0.35, 0.3], [0.0, 0.7, 0.3], [0.35, 0.35, 0.3]])
    return TimeNetwork(
        DiscreteNetwork(GRAPH.unrolled(2), levels, {"a": moves, "a[t-1]": np.array([0.4, 0.35, 0.25])})
    )


def test_together_and_one_by_one_differ() -> None:
    data = {"t": [1, 2, 3], "a": [None, None, "low"], "b": ["x", "y", "x"]}
    network = sticky()
    table, first = network.window.tables["a"], network.window.tables["a[t-1]"]
    courses = {(i, j): first[i] * table[i, j] * table[j, 2] for i in range(3) for j in range(3)}
    best = max(courses, key=courses.__getitem__)
    alone = [
        max(range(3), key=lambda k: sum(p for course, p in courses.items() if course[place] == k))
        for place in (0, 1)
    ]
    assert best != tuple(alone), "the example shows the difference"
    levels = network.window.levels["a"]
    for together, expected in ((False, alone), (True, best)):
        filled = dagora.impute(network, data, time="t", most_probable=together, discrete=["a"])
        assert [cell.value for cell in filled.cells] == [levels[k] for k in expected]
        assert filled.table.names == ("t", "a", "b")
        found = filled.table.schema[1].levels
        assert [found[k] for k in filled.table.codes(1)] == [levels[k] for k in expected] + ["low"]


def test_a_column_beside_the_network_may_not_be_missing() -> None:
    data = {"t": [1, 2, 3], "a": ["high", None, "low"], "b": [0.5, None, 1.5]}
    with pytest.raises(DataError, match="column 'b' has missing values but is no variable of the network"):
        dagora.impute(sticky(), data, time="t")
    filled = dagora.impute(sticky(), data, time="t", drop=["b"])
    assert filled.table.names == ("t", "a")


def test_options_that_do_not_go_with_a_time() -> None:
    data = {"t": [1, 2, 3], "a": ["high", None, "low"]}
    with pytest.raises(OptionError, match="draws does not go with time"):
        dagora.impute(sticky(), data, time="t", draws=2)
    with pytest.raises(OptionError, match="most_probable goes with time"):
        dagora.impute(sticky().window, data, most_probable=True)
