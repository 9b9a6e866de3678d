"""Draws of missing cells in networks with both kinds of nodes, against exact answers."""

import numpy as np
import pytest

import dagora
from dagora import DAG
from dagora.data.incomplete import IncompleteTable
from dagora.errors import DataError
from dagora.network.incomplete.mixed_filling import fit_mixed_with_holes
from dagora.network.networks import MixedNetwork
from dagora.network.regressions import Lines, Softmax

CHAIN = DAG(["a", "x", "b", "y"], [("a", "x"), ("x", "y"), ("b", "y"), ("a", "b")])


def linear():
    """Discrete before continuous: every question has an exact answer."""
    return MixedNetwork(
        CHAIN,
        {"a": ("no", "yes"), "b": ("lo", "mid", "hi")},
        {"a": np.array([0.6, 0.4]), "b": np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])},
        {},
        {
            "x": Lines(np.array([0.0, 2.0]), np.zeros((2, 0)), np.array([1.0, 0.7])),
            "y": Lines(
                np.array([0.0, 1.0, 3.0]), np.array([[1.0], [-0.5], [0.2]]), np.array([0.5, 0.8, 0.6])
            ),
        },
    )


def choosing():
    """A discrete child of a continuous node."""
    return MixedNetwork(
        DAG(["x", "c"], [("x", "c")]),
        {"c": ("no", "yes")},
        {},
        {"c": Softmax(np.array([0.0, -1.0]), np.array([[0.0], [2.0]]))},
        {"x": Lines(np.array(0.5), np.zeros(0), np.array(1.0))},
    )


def punched(network, rows, seed, share=0.4):
    table = network.sample(rows, seed)
    seen = np.random.default_rng(seed).random((len(table.names), rows)) > share
    return table, IncompleteTable.of(table, seen)


def given_in(table, seen, row):
    found = {}
    for place, variable in enumerate(table.schema):
        if seen[place, row]:
            value = table.columns[place][row]
            found[variable.name] = variable.levels[value] if variable.levels else float(value)
    return found


def test_filled_cells_have_the_probabilities_and_deviations_of_exact_answers():
    network = linear()
    table, holes = punched(network, 60, seed=3)
    wrong, sizes = [], []
    for cell in dagora.impute(network, holes).cells:
        answer = network.query(of=[cell.column], given=given_in(table, holes.seen, cell.row - 1))
        if cell.probability is not None:
            wrong.append(answer.probabilities[cell.value] - cell.probability)
        else:
            mean, sd = answer.mean[cell.column], answer.sd[cell.column]
            wrong.append((mean - cell.value) / sd)
            sizes.append(cell.sd / sd)
    assert np.sqrt(np.mean(np.square(wrong))) < 0.09  # 200 draws in 20 chains
    assert np.mean(sizes) == pytest.approx(1, abs=0.05)


def test_a_number_above_a_discrete_child():
    network = choosing()
    table = dagora.Table(network.sample(4, 1).schema, (np.zeros(4), np.array([0, 0, 1, 1], dtype=np.uint16)))
    holes = IncompleteTable.of(table, [[False] * 4, [True] * 4])
    grid = np.linspace(-8, 9, 20001)
    density = np.exp(-((grid - 0.5) ** 2) / 2)
    for cell in dagora.impute(network, holes, seed=5).cells:
        yes = 1 / (1 + np.exp(1 - 2 * grid))
        weight = density * (yes if cell.row > 2 else 1 - yes)
        mean = (grid * weight).sum() / weight.sum()
        sd = np.sqrt(((grid - mean) ** 2 * weight).sum() / weight.sum())
        assert cell.value == pytest.approx(mean, abs=0.3)
        assert cell.sd == pytest.approx(sd, abs=0.2)


def test_parameters_come_near_the_true_ones():
    network = linear()
    _, holes = punched(network, 3000, seed=1, share=0.3)
    found = fit_mixed_with_holes(CHAIN, holes)
    assert found.tables["b"] == pytest.approx(network.tables["b"], abs=0.06)
    for node, lines in network.lines.items():
        assert found.lines[node].intercepts == pytest.approx(lines.intercepts, abs=0.25)
        assert found.lines[node].slopes == pytest.approx(lines.slopes, abs=0.15)
        assert found.lines[node].sds == pytest.approx(lines.sds, abs=0.1)


def test_learning_and_filling_from_the_front_door():
    _, holes = punched(linear(), 400, seed=2, share=0.2)
    result = dagora.learn(holes)
    assert "structural EM in" in result.message
    fitted = dagora.fit(result.graph, holes, missing="model")
    drawn = dagora.impute(fitted, holes, draws=3)
    assert len(drawn.draws) == 3
    assert dagora.learn(holes).graph == result.graph


def test_nodes_that_are_no_columns_are_refused():
    network = choosing()
    with pytest.raises(DataError, match="'x' is a node of the network but no column"):
        dagora.impute(network, network.sample(5, 1).select(["c"]))
