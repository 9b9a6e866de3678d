"""What is filled in depends on the row alone, and is exact where a question has an exact answer."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import dagora
from dagora.base.errors import QueryError
from dagora.data.incomplete import IncompleteTable
from dagora.network.networks import Lines, MixedNetwork, Softmax
from dagora.network.sample import sample_network
from tests.network.inference.random_networks import random_mixed


def with_holes(network: MixedNetwork, rows: int, seed: int) -> IncompleteTable:
    table = sample_network(network, rows, seed)
    seen = np.random.default_rng(seed).random((len(table.columns), rows)) < 0.6
    return IncompleteTable.of(table, ~seen)


@pytest.mark.parametrize("seed", range(6))
def test_filled_values_are_those_of_exact_questions(seed: int) -> None:
    network = random_mixed(6, seed)
    table = with_holes(network, 12, seed)
    asked = exact = 0
    for cell in dagora.impute(network, table).cells:
        row = cell.row - 1
        given = {
            name: table.schema[i].levels[table.columns[i][row]]
            if name in network.levels
            else float(table.columns[i][row])
            for i, name in enumerate(table.names)
            if table.seen[i][row]
        }
        asked += 1
        try:
            answer = network.query(of=cell.column, given=given, method="exact")
        except QueryError:
            continue
        exact += 1
        if cell.probability is not None:
            assert cell.probability == pytest.approx(max(answer.probabilities.values()), abs=1e-6)
        else:
            assert cell.value == pytest.approx(answer.mean[cell.column], abs=1e-4)
            assert cell.sd == pytest.approx(answer.sd[cell.column], rel=1e-3, abs=1e-4)
    assert exact > asked / 3


def weighed() -> MixedNetwork:
    """x ~ N(0, 1), y = x + noise, c is a softmax of x: with x and c missing, only draws tell x given d."""
    graph = dagora.DAG(["x", "y", "c", "d"], [("x", "y"), ("x", "c"), ("c", "d")])
    return MixedNetwork(
        graph,
        {"c": ("no", "yes"), "d": ("no", "yes")},
        {"d": np.array([[0.9, 0.1], [0.2, 0.8]])},
        {"c": Softmax(np.array([0.0, 0.3]), np.array([[0.0], [1.5]]))},
        {
            "x": Lines(np.array(0.0), np.zeros(0), np.array(1.0)),
            "y": Lines(np.array(0.0), np.array([1.0]), np.array(0.7)),
        },
    )


def chance_of_yes(y: float, d: int) -> float:
    """P(c = yes | y, d) by quadrature."""
    table = np.array([[0.9, 0.1], [0.2, 0.8]])

    def weight(x: float, c: int) -> float:
        yes = 1 / (1 + np.exp(-0.3 - 1.5 * x))
        return float(norm.pdf(x) * norm.pdf(y, x, 0.7) * (yes if c else 1 - yes) * table[c, d])

    no, yes = (quad(weight, -8, 8, args=(c,), points=[y])[0] for c in (0, 1))
    return yes / (no + yes)


ROWS = pd.DataFrame({"y": [0.4, -1.0, 2.0, 0.4], "d": ["yes", "no", "no", "no"], "x": np.nan, "c": None})


def filled(frame: pd.DataFrame) -> list[tuple[str, object, float]]:
    cells = dagora.impute(weighed(), frame).cells
    return [(c.column, c.value, c.sd if c.probability is None else c.probability) for c in cells]


def alike(some: list[tuple[str, object, float]], others: list[tuple[str, object, float]]) -> bool:
    """True if values and certainties are the same but for rounding."""

    def same(one: object, other: object) -> bool:
        return one == other or (isinstance(one, float) and one == pytest.approx(other, abs=1e-9))

    return all(all(map(same, one, other)) for one, other in zip(some, others, strict=True))


def test_a_row_is_filled_alike_whatever_the_others_are() -> None:
    alone = [filled(ROWS.iloc[[k]]) for k in range(len(ROWS))]
    assert alike([cell for cells in alone for cell in cells], filled(ROWS))
    copies = pd.concat([ROWS.iloc[[1]]] * 200, ignore_index=True)
    assert alike(filled(copies), alone[1] * 200)
    assert alike(filled(ROWS.iloc[::-1])[-2:], alone[0])


def test_drawn_values_agree_with_quadrature() -> None:
    for row, k in zip(ROWS.itertuples(), range(len(ROWS)), strict=True):
        found = {column: (value, sure) for column, value, sure in filled(ROWS.iloc[[k]])}
        value, sure = found["c"]
        truth = chance_of_yes(row.y, int(row.d == "yes"))
        assert (sure if value == "yes" else 1 - sure) == pytest.approx(truth, abs=0.05)
