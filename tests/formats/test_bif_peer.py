"""Our BIF reader and pgmpy's must agree on every network of the repository, to the last bit."""

import gzip
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dagora.formats import read_network

PEER = Path(__file__).resolve().parents[2] / ".bench" / "pgmpy" / "bin" / "python"
# One process reads all files: importing pgmpy costs more than reading most of them.
SCRIPT = """
import json, sys
from pathlib import Path
import numpy as np
from pgmpy.readwrite import BIFReader

for source in sorted(Path(sys.argv[1]).glob("*.bif")):
    reader = BIFReader(str(source))
    names = list(reader.variable_names)
    np.savez(source.with_suffix(".npz"), **{f"t{i}": reader.variable_cpds[x] for i, x in enumerate(names)})
    facts = {"names": names, "states": reader.variable_states, "parents": reader.variable_parents}
    source.with_suffix(".json").write_text(json.dumps(facts))
"""
# fmt: off
NETWORKS = [
    "alarm", "andes", "asia", "barley", "cancer", "child", "diabetes", "earthquake",
    "hailfinder", "hepar2", "insurance", "link", "mildew", "munin", "munin1", "munin2",
    "munin3", "munin4", "pathfinder", "pigs", "sachs", "survey", "water", "win95pts",
]
# fmt: on
WHOLE_TABLE = """network t {
}
variable a {
  type discrete [ 2 ] { y, n };
}
variable b {
  type discrete [ 3 ] { low, mid, high };
}
probability ( a | b ) {
  table 0.1, 0.2, 0.3, 0.9, 0.8, 0.7;
}
probability ( b ) {
  table 0.5, 0.25, 0.25;
}
"""

pytestmark = [
    pytest.mark.peer,
    pytest.mark.slow,
    pytest.mark.skipif(not PEER.exists(), reason="needs pgmpy in .bench/pgmpy (make bench)"),
]


@pytest.fixture(scope="module")
def read_by_pgmpy(data_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bif")
    for name in NETWORKS:
        packed = data_dir / "networks" / f"{name}.bif.gz"
        (folder / f"{name}.bif").write_bytes(gzip.decompress(packed.read_bytes()))
    (folder / "whole-table.bif").write_text(WHOLE_TABLE)
    subprocess.run([PEER, "-c", SCRIPT, folder], check=True, timeout=600, capture_output=True)
    return folder


@pytest.mark.parametrize("name", [*NETWORKS, "whole-table"])
def test_same_as_pgmpy(name, read_by_pgmpy):
    ours = read_network(read_by_pgmpy / f"{name}.bif")
    theirs = json.loads((read_by_pgmpy / f"{name}.json").read_text())

    assert list(ours.graph.nodes) == theirs["names"]
    assert {node: list(levels) for node, levels in ours.levels.items()} == theirs["states"]
    edges = {(parent, node) for node, parents in theirs["parents"].items() for parent in parents}
    assert set(ours.graph.edges) == edges
    with np.load(read_by_pgmpy / f"{name}.npz") as tables:
        for i, node in enumerate(theirs["names"]):
            listed = theirs["parents"][node]
            # pgmpy: the variable's levels down, the parents' configurations across, the last parent fastest.
            shape = [len(ours.levels[x]) for x in (node, *listed)]
            table = np.moveaxis(tables[f"t{i}"].reshape(shape), 0, -1)
            axes = [listed.index(parent) for parent in ours.graph.parents(node)]
            np.testing.assert_array_equal(
                ours.tables[node], table.transpose([*axes, len(listed)]), err_msg=node
            )
