"""The Markov blanket of one variable: d-separation as the oracle, a search on all columns, and refusals."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.separation import d_separated, moral_graph
from dagora.learners.around_target import EachColumn, joined
from dagora.scores.bic_gaussian import GaussianBIC
from dagora.scores.gaussian_rows import GaussianRows
from dagora.stats.table import TableStatistics


def gaussian(edges: list[tuple[int, int]], columns: int, rows: int, seed: int) -> Table:
    """Rows of a linear network, whose columns have variance 1, with weights that are not small."""
    random = np.random.default_rng(seed)
    values = random.standard_normal((columns, rows))
    parents = [[tail for tail, head in edges if head == child] for child in range(columns)]
    for child in range(columns):  # edges lead to later columns
        for tail in parents[child]:
            values[child] += random.choice([-1, 1]) * random.uniform(0.6, 1.0) * values[tail]
        values[child] /= values[child].std()
    return Table(Schema(Variable(f"x{i}", Kind.CONTINUOUS) for i in range(columns)), tuple(values))


def random_edges(columns: int, number: int, seed: int) -> list[tuple[int, int]]:
    random = np.random.default_rng(seed)
    pairs = [(i, j) for j in range(columns) for i in range(j)]
    return [pairs[k] for k in sorted(random.choice(len(pairs), number, replace=False))]


def separated_blanket(dag: DAG, target: str) -> set[str]:
    """The variables that are not separated from the target by all others."""
    rest = [name for name in dag.nodes if name != target]
    return {one for one in rest if not d_separated(dag, target, one, [x for x in rest if x != one])}


@pytest.mark.parametrize("seed", range(3))
def test_the_blanket_is_what_d_separation_says(seed: int) -> None:
    edges = random_edges(9, 11, seed)
    table = gaussian(edges, 9, 20_000, seed)
    truth = DAG(table.names, [(f"x{i}", f"x{j}") for i, j in edges])
    directed = set(CPDAG.from_dag(truth).edges)
    for target in ("x0", "x4", "x8"):
        found = dagora.learn(table, "tabu", target=target)
        assert set(found.graph.nodes) - {target} == separated_blanket(truth, target)
        at_target = {edge for edge in found.graph.edges if target in edge}
        assert at_target == {edge for edge in directed if target in edge}
        assert found.settings["target"] == target
        assert found.score is None


def test_levels_have_a_blanket_too() -> None:
    dag = DAG("abcdef", [("a", "c"), ("b", "c"), ("c", "d"), ("e", "f")])
    table = dagora.simulate(dag, "logistic", 20_000, seed=3).table
    found = dagora.learn(table, target="a")
    assert set(found.graph.nodes) == {"a", "b", "c"}
    assert set(found.graph.edges) == {("a", "c"), ("b", "c")}
    assert found.message.startswith(
        "the Markov blanket of 'a': children: c; other parents of children: b; 4 of"
    )


def test_a_column_apart_has_an_empty_blanket() -> None:
    table = gaussian([(0, 1), (1, 2)], 4, 500, 1)
    found = dagora.learn(table, target="x3")
    assert found.graph.nodes == ("x3",)
    assert found.message.startswith("the Markov blanket of 'x3' is empty")


@pytest.mark.full
def test_many_columns_have_the_blankets_of_a_search_on_all() -> None:
    edges = random_edges(100, 150, 1)
    table = gaussian(edges, 100, 600, 1)
    whole = dagora.learn(table, method="boss")
    moral = moral_graph(whole.cpdag)
    ours: set[tuple[int, str]] = set()
    theirs: set[tuple[int, str]] = set()
    for target in range(0, 100, 10):
        found = dagora.learn(table, method="boss", target=f"x{target}")
        ours |= {(target, name) for name in found.graph.nodes if name != f"x{target}"}
        theirs |= {(target, table.names[i]) for i in np.flatnonzero(moral[target])}
    assert len(theirs) > 30
    assert len(ours & theirs) >= 0.97 * len(ours | theirs)


def test_the_scores_of_each_column_are_those_of_the_families() -> None:
    table = gaussian(random_edges(8, 12, 2), 8, 60, 2)
    plain = GaussianBIC(TableStatistics(table), penalty=2.5)
    wide = [GaussianRows(table, 2.5), EachColumn(plain)]
    for child, given in ((0, ()), (3, (5,)), (7, (0, 2, 6))):
        scores = [score.with_each(child, given) for score in wide]
        for other in set(range(8)) - {child, *given}:
            expected = plain.families([(child, sorted((*given, other)))])[0]
            assert [each[other] for each in scores] == pytest.approx([expected, expected], rel=1e-10)
        assert [np.isneginf(each[[child, *given]]).all() for each in scores] == [True, True]
    assert joined(wide[0], 3, ()) == joined(wide[1], 3, ())


def test_copies_of_a_column_are_told() -> None:
    table = gaussian([(0, 1), (1, 2)], 3, 300, 4)
    twice = Table(
        Schema([*table.schema, Variable("again", Kind.CONTINUOUS)]), (*table.columns, table.columns[1] * 2)
    )
    found = dagora.learn(twice, target="x1")
    assert "again" in found.graph.nodes
    assert any("again" in line for line in found.warnings)


def test_required_neighbours_are_looked_at() -> None:
    table = gaussian([(0, 1)], 5, 300, 5)
    found = dagora.learn(table, target="x3", knowledge={"required": [["x3", "x4"]]})
    assert found.graph.edges == (("x3", "x4"),)


def test_a_time_limit_is_told() -> None:
    table = gaussian(random_edges(60, 100, 6), 60, 300, 6)
    found = dagora.learn(table, target="x30", time_limit=1e-3)
    assert found.status == "time-limit"
    assert "columns near it may be missing" in found.message


ROWS = gaussian([(0, 1), (1, 2)], 3, 50, 7)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"target": "z"}, "there is no column 'z'"),
        ({"target": "x0", "method": "pc"}, "pc has an objective of its own"),
        ({"target": "x0", "score": "gp"}, "does not go with the score gp"),
        ({"target": "x0", "interventions": [None] * 50}, "without interventions"),
    ],
)
def test_refusals(more: dict, said: str) -> None:
    with pytest.raises(dagora.DagoraError, match=said):
        dagora.learn(ROWS, **more)


def test_sums_without_rows_are_refused() -> None:
    class OnlySums(TableStatistics):
        pass

    with pytest.raises(dagora.OptionError, match="complete rows in memory"):
        dagora.learn(OnlySums(ROWS), target="x0")


@pytest.mark.parametrize(
    "line",
    [
        ("--bootstrap", "5"),
        ("--time", "x1"),
        ("--impute", "3"),
        ("--estimate",),
        ("--truth", "truth.json"),
        ("-o", "graph.bif"),
        ("--interventions", "x1"),
    ],
)
def test_the_command_refuses_what_does_not_go_with_it(
    run: Callable, tmp_path: Path, line: tuple[str, ...]
) -> None:
    file = tmp_path / "rows.csv"
    ROWS.to_pandas().to_csv(file, index=False)
    ran = run("learn", str(file), "--target", "x0", *line)
    assert ran.code == 2
    assert len(ran.err.strip().splitlines()) == 1
    assert "--target" in ran.err


def test_the_command_names_the_blanket_and_writes_it(run: Callable, tmp_path: Path) -> None:
    file, out, page = (tmp_path / name for name in ("rows.csv", "graph.json", "page.html"))
    gaussian([(0, 2), (1, 2), (3, 4)], 5, 4000, 9).to_pandas().to_csv(file, index=False)
    ran = run("learn", str(file), "--target", "x0", "-o", str(out), "--report", str(page))
    assert ran.code == 0, ran.err
    assert "the Markov blanket of 'x0': children: x2; other parents of children: x1" in " ".join(
        ran.out.split()
    )
    again = dagora.Result.from_json(out.read_text())
    assert set(again.graph.edges) == {("x0", "x2"), ("x1", "x2")}
    assert "Markov blanket" in page.read_text()
