"""Whoever sends a file wants its reader to end by anything but one line."""

import pytest

import dagora
from dagora.base.errors import DagoraError
from dagora.data.writers import write_table
from dagora.formats.registry import read_graph, read_network, write_graph, write_network
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from tests.attacks.fuzz import damage, tries

TABLES = ("csv", "tsv", "json", "arff", "parquet", "feather", "xlsx")
NETWORKS = ("bif", "json", "xml", "net", "dsc")
GRAPHS = ("json", "dot", "graphml", "csv", "txt")


def whole_files(folder):
    """A file of each format that can be written here, and its reader."""
    network = greenhouse()
    table = sample_network(network, 40, seed=1)
    found = []
    for kind, endings, write, read in (
        ("table", TABLES, write_table, dagora.read_table),
        ("network", NETWORKS, write_network, read_network),
        ("graph", GRAPHS, write_graph, read_graph),
    ):
        content = {"table": table, "network": network, "graph": network.graph}[kind]
        for ending in endings:
            file = folder / f"{kind}.{ending}"
            try:
                write(content, file)
            except DagoraError:  # this format is only read, or not known
                continue
            found.append((file, read))
    assert len(found) >= 8
    return found


@pytest.mark.fuzz
@pytest.mark.full
def test_damaged_files(tmp_path):
    whole = [(file, file.read_bytes(), read) for file, read in whole_files(tmp_path)]
    for draw in tries(0.5):
        file, content, read = draw.choice(whole)
        broken = tmp_path / f"broken.{file.name}"
        broken.write_bytes(damage(content, draw))
        try:
            read(broken)
        except DagoraError as error:
            assert "\n" not in str(error), (draw, file.name)
        except Exception as error:
            raise AssertionError(f"{file.name} ended its reader") from error
