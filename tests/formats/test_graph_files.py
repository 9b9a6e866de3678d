"""Files by extension: compression, whole writes, unknown extensions, and what a conversion loses."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

from dagora.base.errors import FormatError
from dagora.formats import convert, graphs, read_graph, read_network, write_graph, write_network
from dagora.formats.registry import read_determined
from dagora.graph.ancestral.pag import PAG
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.directions import Directions
from dagora.network.networks import DiscreteNetwork, GaussianNetwork
from dagora.network.origin import Origin
from tests.formats.format_oracles import assert_same_network

GRAPH = DAG("ab", [("a", "b")])
NETWORK = DiscreteNetwork(
    GRAPH,
    {"a": ("n", "y"), "b": ("n", "y")},
    {"a": np.array([0.3, 0.7]), "b": np.array([[0.1, 0.9], [0.8, 0.2]])},
)
REGRESSIONS = GaussianNetwork(
    GRAPH, {"a": 0, "b": 1}, {"a": np.empty(0), "b": np.array([2.0])}, {"a": 1, "b": 1}
)
SUFFIXES = ["json", "dot", "gv", "graphml", "dagitty", "csv", "JSON", "csv.gz", "Dot.GZ"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("graph", [GRAPH, CPDAG("abc", [("a", "b")], [("b", "c")])])
def test_every_extension(suffix, graph, through_file):
    assert through_file(graph, f"g.{suffix}") == graph


def test_compressed_files_depend_on_the_content_alone(tmp_path):
    write_network(NETWORK, tmp_path / "one.bif.gz")
    write_network(NETWORK, tmp_path / "two.bif.gz")
    packed = (tmp_path / "one.bif.gz").read_bytes()
    assert packed == (tmp_path / "two.bif.gz").read_bytes()
    write_network(NETWORK, tmp_path / "plain.bif")
    assert gzip.decompress(packed) == (tmp_path / "plain.bif").read_bytes()


def test_a_refused_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "g.graphml"
    write_graph(GRAPH, path)
    before = path.read_bytes()
    with pytest.raises(FormatError, match=r"g\.graphml: XML cannot hold the name"):
        write_graph(DAG(["a\x00"]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", ["json", "bif"])
def test_byte_order_mark_and_line_ends(suffix, tmp_path):
    path = tmp_path / f"n.{suffix}"
    write_network(NETWORK, path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert_same_network(read_network(path), NETWORK)


def test_unreadable_files(tmp_path, refused):
    assert refused("g.json", b'{"nodes":\n ["\xff"]}') == "line 2: is not UTF-8 text; save the file as UTF-8"
    assert refused("g.json.gz", b"{}").startswith("is not a valid gzip file")
    assert refused("g.bif.gz", gzip.compress(b"network x {}" * 100)[:-9]).startswith(
        "is not a valid gzip file"
    )
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(FormatError, match=r"folder\.json: is a folder, not a file"):
        read_graph(tmp_path / "folder.json")
    with pytest.raises(FormatError, match=r"missing\.json: no such file"):
        read_graph(tmp_path / "missing.json")
    with pytest.raises(FormatError, match=r"cannot be read"):
        read_graph("nul\0.json")


def test_folders_that_cannot_be_written(tmp_path):
    with pytest.raises(FormatError, match="no folder") as caught:
        write_graph(GRAPH, tmp_path / "no" / "g.json")
    assert len(str(caught.value).splitlines()) == 1
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(FormatError, match=r"folder\.json"):
        write_graph(GRAPH, tmp_path / "folder.json")


@pytest.mark.parametrize("name", ["g.doc", "g", "g.gz", ".bif"])
def test_unknown_extensions(name, tmp_path):
    for action in (read_graph, read_network, lambda path: write_graph(GRAPH, path)):
        with pytest.raises(FormatError, match=r"\.json \.bif \.dot \.gv \.graphml \.dagitty \.tetrad \.csv"):
            action(tmp_path / name)


def test_what_bif_cannot_hold(tmp_path):
    path = tmp_path / "g.bif"
    with pytest.raises(FormatError, match=r"g\.bif: BIF needs parameters .* giving data"):
        write_graph(GRAPH, path)
    with pytest.raises(FormatError, match=r"g\.bif: .* undirected edges"):
        write_graph(CPDAG("ab", undirected=[("a", "b")]), path)
    with pytest.raises(FormatError, match=r"g\.bif: BIF holds discrete networks only"):
        write_network(REGRESSIONS, path)
    assert not path.exists()


@pytest.mark.parametrize("suffix", ["dot", "graphml", "dagitty", "csv"])
def test_formats_without_parameters(suffix, tmp_path):
    write_graph(GRAPH, tmp_path / f"g.{suffix}")
    with pytest.raises(FormatError, match=rf"g\.{suffix}: \w+ files hold no parameters; use \.json or \.bif"):
        read_network(tmp_path / f"g.{suffix}")
    with pytest.raises(FormatError, match="files hold no parameters"):
        write_network(NETWORK, tmp_path / f"n.{suffix}")


@pytest.mark.parametrize(("network", "lost"), [(NETWORK, "probability tables"), (REGRESSIONS, "regressions")])
@pytest.mark.parametrize("suffix", ["dot", "graphml", "dagitty", "csv"])
def test_convert_says_what_is_lost(network, lost, suffix, tmp_path):
    write_network(network, tmp_path / "n.json")
    notes = convert(tmp_path / "n.json", tmp_path / f"g.{suffix}")
    assert len(notes) == 1
    assert lost in notes[0]
    assert read_graph(tmp_path / f"g.{suffix}") == GRAPH


def test_convert_between_formats_of_graphs(tmp_path):
    graph = CPDAG("abc", [("a", "b")], [("b", "c")])
    write_graph(graph, tmp_path / "0.json")
    for i, suffix in enumerate(["dot", "graphml", "dagitty", "csv", "json"]):
        source = next(tmp_path.glob(f"{i}.*"))
        assert convert(source, tmp_path / f"{i + 1}.{suffix}") == []
    assert read_graph(tmp_path / "5.json") == graph


def test_convert_refuses_what_it_cannot_make(tmp_path):
    write_graph(GRAPH, tmp_path / "g.dot")
    with pytest.raises(FormatError, match=r"g\.bif: BIF needs parameters"):
        convert(tmp_path / "g.dot", tmp_path / "g.bif")
    write_network(REGRESSIONS, tmp_path / "n.json")
    with pytest.raises(FormatError, match=r"n\.bif: BIF holds discrete networks only"):
        convert(tmp_path / "n.json", tmp_path / "n.bif")
    assert not list(tmp_path.glob("*.bif"))


def test_a_direction_that_rests_on_a_weak_edge_is_not_determined(tmp_path):
    directions = Directions(unsure={("a", "b"): (("a", "b"),)})
    write_network(replace(NETWORK, origin=Origin(9, directions=directions)), tmp_path / "n.json")
    assert read_determined(tmp_path / "n.json").undirected == (("a", "b"),)
    assert "do not determine the direction of a — b" in convert(tmp_path / "n.json", tmp_path / "n.dot")[1]


@pytest.mark.parametrize("suffix", ["json", "dot", "dagitty", "tetrad"])
@pytest.mark.parametrize("graph", [DAG("abcd"), PAG("abcd", [("a", "o->", "b")])])
def test_too_many_nodes_are_refused(suffix, graph, tmp_path, monkeypatch):
    """Also of a PAG: it takes the square of them in memory, too."""
    write_graph(graph, tmp_path / f"g.{suffix}")
    monkeypatch.setattr(graphs, "MOST_NODES", 3)
    with pytest.raises(FormatError, match="has 4 nodes, and at most 3 can be read"):
        read_graph(tmp_path / f"g.{suffix}")
