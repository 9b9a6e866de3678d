"""pyAgrum and pgmpy read every BIF file that we write from fifty messy tables: all of it, and rightly."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dagora.formats import write_network
from tests.formats.messy_tables import MESSY, messy_network
from tests.formats.strict_bif import assert_like, strict_reading

BENCH = Path(__file__).resolve().parents[2] / ".bench"
# One process reads all files: importing the peer costs more than reading them.
SCRIPTS = {
    "pyagrum": """
import json, sys
from pathlib import Path
import numpy as np
import pyagrum

for source in sorted(Path(sys.argv[1]).glob("*.bif")):
    network = pyagrum.loadBN(str(source))
    names = [network.variable(node).name() for node in sorted(network.nodes())]
    levels = {name: list(network.variable(name).labels()) for name in names}
    parents, tables = {}, {}
    for name in names:
        table = network.cpt(name)
        order = [table.variable(i).name() for i in reversed(range(table.nbrDim()))]  # as toarray has them
        array = table.toarray()
        assert order[-1] == name and array.shape == tuple(len(levels[x]) for x in order)
        parents[name], tables[name] = order[:-1], array.tolist()
    source.with_suffix(".pyagrum").write_text(json.dumps([levels, parents, tables]))
""",
    "pgmpy": """
import json, sys
from pathlib import Path
import numpy as np
from pgmpy.readwrite import BIFReader

for source in sorted(Path(sys.argv[1]).glob("*.bif")):
    model = BIFReader(str(source)).get_model()
    assert model.check_model()
    levels, parents, tables = {}, {}, {}
    for name in model.nodes():
        table = model.get_cpds(name)
        assert table.variables[0] == name
        levels[name], parents[name] = table.state_names[name], list(table.variables[1:])
        tables[name] = np.moveaxis(np.asarray(table.values), 0, -1).tolist()
    source.with_suffix(".pgmpy").write_text(json.dumps([levels, parents, tables]))
""",
}

pytestmark = [pytest.mark.peer, pytest.mark.slow]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messy")
    networks = {key: messy_network(key) for key in MESSY}
    for key, network in networks.items():
        write_network(network, folder / f"{MESSY[key][0]:02d}.bif")
    return folder, networks


@pytest.mark.parametrize("peer", SCRIPTS)
def test_reads_them_all(peer, written):
    python = BENCH / peer / "bin" / "python"
    if not python.exists():
        pytest.skip(f"needs {peer} in .bench/{peer} (make bench)")
    folder, networks = written
    subprocess.run([python, "-c", SCRIPTS[peer], folder], check=True, timeout=600, capture_output=True)
    for key, network in networks.items():
        source = folder / f"{MESSY[key][0]:02d}.bif"
        levels, parents, tables = json.loads(source.with_suffix(f".{peer}").read_text())
        strict, *_ = strict_reading(source.read_text(encoding="ascii"))
        assert levels == strict, "every name and level as it stands in the file, in its order"
        assert_like(network, levels, parents, {name: np.array(table) for name, table in tables.items()})
