"""All networks of the Bayesian Network Repository: read right, and the same after every format."""

import gzip
from itertools import product

import numpy as np
import pytest

from dagora.formats import convert, read_graph, read_network
from dagora.graph.cpdag import CPDAG
from tests.formats.format_oracles import assert_same_network, second_reading

# fmt: off
DISCRETE = [
    "alarm", "andes", "asia", "barley", "cancer", "child", "diabetes", "earthquake",
    "hailfinder", "hepar2", "insurance", "link", "mildew", "munin", "munin1", "munin2",
    "munin3", "munin4", "pathfinder", "pigs", "sachs", "survey", "water", "win95pts",
]
# fmt: on
# These are like others that are read here, and the largest of all.
ALIKE = {"munin2", "munin3", "munin4"}
BUT_ALIKE = [pytest.param(name, marks=[pytest.mark.slow] * (name in ALIKE)) for name in DISCRETE]
GAUSSIAN = ["arth150", "ecoli70", "magic-irri", "magic-niab"]
GRAPH_FORMATS = ["json", "dot", "gv.gz", "graphml", "dagitty", "csv"]


@pytest.fixture(scope="session")
def repository(data_dir):
    """Networks by name, each read once."""
    read = {}

    def network(name):
        if name not in read:
            suffix = "json" if name in GAUSSIAN else "bif.gz"
            read[name] = read_network(data_dir / "networks" / f"{name}.{suffix}")
        return read[name]

    return network


def test_the_list_is_complete(data_dir):
    folder = data_dir / "networks"
    assert sorted(path.name for path in folder.glob("*.bif.gz")) == sorted(
        f"{name}.bif.gz" for name in DISCRETE
    )
    assert sorted(path.name for path in folder.glob("*.json")) == sorted(f"{name}.json" for name in GAUSSIAN)


@pytest.mark.parametrize("name", BUT_ALIKE)
def test_agrees_with_a_second_reader(name, repository, data_dir):
    network = repository(name)
    text = gzip.decompress((data_dir / "networks" / f"{name}.bif.gz").read_bytes()).decode()
    levels, parents, rows = second_reading(text)
    assert dict(network.levels) == levels
    assert list(network.graph.nodes) == list(levels)
    assert set(network.graph.edges) == {(tail, head) for head in parents for tail in parents[head]}
    for node in levels:
        listed, ours = parents[node], network.graph.parents(node)
        configurations = list(product(*(levels[parent] for parent in ours)))
        positions = [ours.index(parent) for parent in listed]
        expected = [rows[node][tuple(key[i] for i in positions)] for key in configurations]
        np.testing.assert_array_equal(network.tables[node].reshape(len(configurations), -1), expected)
        assert len(rows[node]) == len(configurations)


@pytest.mark.parametrize("name", BUT_ALIKE)
def test_rounding_of_the_published_tables(name, repository):
    # What a sampler must put up with; the reader's tolerance of 1e-3 is far above it.
    worst = max(np.abs(table.sum(axis=-1) - 1).max() for table in repository(name).tables.values())
    assert worst < 4e-7


@pytest.mark.parametrize("suffix", ["bif", "json"])
@pytest.mark.parametrize("name", BUT_ALIKE)
def test_parameters_survive(name, suffix, repository, through_file):
    assert_same_network(through_file(repository(name), f"n.{suffix}"), repository(name))


@pytest.mark.parametrize("suffix", GRAPH_FORMATS)
@pytest.mark.parametrize("name", [*BUT_ALIKE, *GAUSSIAN])
def test_graphs_survive(name, suffix, repository, through_file):
    graph = repository(name).graph
    assert through_file(graph, f"g.{suffix}") == graph


@pytest.mark.parametrize("suffix", GRAPH_FORMATS)
@pytest.mark.parametrize("name", ["alarm", "win95pts", "hepar2"])
def test_equivalence_classes_survive(name, suffix, repository, through_file):
    graph = CPDAG.from_dag(repository(name).graph)
    assert graph.undirected
    assert through_file(graph, f"g.{suffix}") == graph


@pytest.mark.parametrize("name", GAUSSIAN)
def test_linear_gaussian_networks_survive(name, repository, through_file):
    assert_same_network(through_file(repository(name), "n.json.gz"), repository(name))


def test_a_published_regression(repository):
    network = repository("ecoli70")
    assert network.name == "ecoli70"
    assert network.graph.parents("aceB") == ("icdA",)
    assert network.coefficients["aceB"].tolist() == [1.04635757628932]
    assert (network.intercepts["aceB"], network.sds["aceB"]) == (0.13242569261183, 0.292116836801877)
    by_parent = dict(zip(network.graph.parents("atpD"), network.coefficients["atpD"].tolist(), strict=True))
    assert by_parent == {"sucA": 0.260293554112250, "ygcE": -0.725220144407677}


def test_known_sizes(repository):
    # Nodes, arcs and free parameters as the repository's own pages list them.
    for name, nodes, arcs, parameters in [
        ("asia", 8, 8, 18),
        ("alarm", 37, 46, 509),
        ("insurance", 27, 52, 1008),
        ("hailfinder", 56, 66, 2656),
        ("munin", 1041, 1397, 80592),
    ]:
        network = repository(name)
        free = sum(table.size - table.size // table.shape[-1] for table in network.tables.values())
        assert (len(network.graph), len(network.graph.edges), free) == (nodes, arcs, parameters)


def test_convert_bif_to_json_to_bif(data_dir, tmp_path, repository):
    assert convert(data_dir / "networks" / "child.bif.gz", tmp_path / "c.json") == []
    assert convert(tmp_path / "c.json", tmp_path / "c.bif") == []
    assert_same_network(read_network(tmp_path / "c.bif"), repository("child"))


def test_sachs_consensus_edges(data_dir):
    graph = read_graph(data_dir / "sachs" / "sachs_consensus_edges.csv")
    assert (len(graph), len(graph.edges)) == (11, 17)
    assert graph.parents("Akt") == ("Erk", "PKA")
