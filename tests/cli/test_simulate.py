"""`dagora simulate`: every model, both kinds of graph, known networks; the same seed gives the same bytes."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.data.schema import Kind
from dagora.network.simulate import SEMS


@pytest.mark.parametrize("graph", ["er", "sf"])
@pytest.mark.parametrize("sem", SEMS)
def test_every_model(run: Callable, tmp_path: Path, sem: str, graph: str) -> None:
    def simulate(name: str, seed: int) -> bytes:
        line = f"simulate --graph {graph} --nodes 8 --degree 2 --sem {sem} --rows 50 --seed {seed}"
        ran = run(*line.split(), "-o", tmp_path / f"{name}.csv", "--truth", tmp_path / f"{name}.json")
        assert (ran.code, ran.out) == (0, ""), ran.err
        return (tmp_path / f"{name}.csv").read_bytes()

    assert simulate("one", 1) == simulate("again", 1)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    assert simulate("two", 2) != simulate("one", 1)
    expected = dagora.simulate(dagora.random_dag(graph, 8, 2, seed=1), sem, 50, seed=1)
    numbers = [variable.name for variable in expected.table.schema if variable.kind is Kind.CONTINUOUS]
    table = dagora.read_table(tmp_path / "one.csv", continuous=numbers)
    truth = dagora.read_graph(tmp_path / "one.json")
    assert (table.n_rows, table.names) == (50, truth.nodes)
    assert truth == expected.graph
    assert table.schema.kinds == expected.table.schema.kinds
    for column, known in zip(table.columns, expected.table.columns, strict=True):
        assert np.array_equal(column, known), "no digit is lost in the file"


def test_the_graph_is_random_by_default_and_degree_counts_edges_per_node(
    run: Callable, tmp_path: Path
) -> None:
    line = "simulate --nodes 100 --degree 2 --sem gaussian --rows 2 --seed 3"
    assert run(*line.split(), "-o", tmp_path / "d.csv", "--truth", tmp_path / "t.csv").code == 0
    assert 150 < len(dagora.read_graph(tmp_path / "t.csv").edges) < 250


def test_noise_scale_and_nonlinearity(run: Callable, tmp_path: Path) -> None:
    common = ["simulate", "--nodes", "1", "--degree", "0", "--rows", "400", "--seed", "3"]
    run(*common, "--sem", "gaussian", "--noise-scale", 10, "-o", tmp_path / "g.csv")
    assert 8 < np.std(dagora.read_table(tmp_path / "g.csv").values(0)) < 12
    common = ["simulate", "--nodes", "5", "--degree", "2", "--rows", "20", "--seed", "3", "--sem", "fourier"]
    run(*common, "--nonlinearity", 0, "-o", tmp_path / "linear.csv")
    run(*common, "-o", tmp_path / "curved.csv")
    run(*common, "--published", "-o", tmp_path / "published.csv")
    tables = [(tmp_path / f"{name}.csv").read_bytes() for name in ("linear", "curved", "published")]
    assert len(set(tables)) == 3
    ran = run(*common[:-1], "gaussian", "--published", "-o", tmp_path / "none.csv")
    assert ran.code == 2
    assert "--nonlinearity and --published belong to the sem 'fourier'" in ran.err


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".parquet", ".feather"])
def test_from_a_known_network(run: Callable, garden: Path, tmp_path: Path, ending: str) -> None:
    data, truth = tmp_path / f"d{ending}", tmp_path / "t.bif"
    line = ("--sem", f"bif:{garden / 'garden.bif'}", "--rows", 2000, "--seed", 4)
    assert run("simulate", *line, "-o", data, "--truth", truth).code == 0
    table, network = dagora.read_table(data), dagora.read_network(truth)
    original = dagora.read_network(garden / "garden.bif")
    assert network.graph == original.graph
    assert table.n_rows == 2000
    assert table.names == original.graph.nodes
    assert table.schema.kinds == {Kind.DISCRETE}
    season = table.schema[0]
    shares = np.bincount(table.codes(0)) / 2000
    expected = dict(zip(original.levels["season"], original.tables["season"], strict=True))
    assert shares == pytest.approx([expected[level] for level in season.levels], abs=0.04)
    assert run("simulate", *line, "-o", tmp_path / f"again{ending}").code == 0
    assert (tmp_path / f"again{ending}").read_bytes() == data.read_bytes()


def test_truth_as_a_graph_file(run: Callable, garden: Path, tmp_path: Path) -> None:
    line = ("--sem", f"bif:{garden / 'garden.bif'}", "--rows", 10, "-o", tmp_path / "d.csv")
    assert run("simulate", *line, "--truth", tmp_path / "t.json").code == 0
    assert dagora.read_graph(tmp_path / "t.json") == dagora.read_graph(garden / "garden.bif")
