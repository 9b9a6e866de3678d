"""A small network and a small table in the place of the reference data."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from dagora.formats.registry import write_network
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork
from dagora.papers.rbnets import data_sets
from dagora.papers.rbnets.data_sets import DataSet

NODES = "abcde"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Data sets `net*` (5 variables) and `gaps` (4 variables, some cells missing) are the only ones."""
    folder = tmp_path / "data"
    (folder / "networks").mkdir(parents=True)
    rng = np.random.default_rng(7)
    graph = DAG(NODES, [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")])
    tables = {node: rng.dirichlet([0.4, 0.4], size=(2,) * len(graph.parents(node))) for node in NODES}
    network = DiscreteNetwork(graph, dict.fromkeys(NODES, ("no", "yes")), tables)
    write_network(network, folder / "networks" / "net.bif")
    rows = rng.integers(0, 9, size=(60, 3))
    rows[:, 1] = rows[:, 0] + rng.integers(0, 2, size=60)
    lines = ["a,b,c,t", *(f"{a},{b},{'' if c == 4 else c},{'xy'[c % 2]}" for a, b, c in rows)]
    (folder / "gaps.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    entries = (DataSet("net*", 5, 300, "networks/net.bif"), DataSet("gaps", 4, 60, "gaps.csv.gz", gaps=True))
    monkeypatch.setenv("DAGORA_DATA", str(folder))
    for name in reversed(list(data_sets.DATA_SETS)):  # put back in the order that they had
        monkeypatch.delitem(data_sets.DATA_SETS, name)
    for entry in entries:
        monkeypatch.setitem(data_sets.DATA_SETS, entry.name, entry)
    return folder
