"""Whoever sends a file wants its reader to end by anything but one line."""

import copy
import json

import numpy as np
import pytest

import dagora
from dagora.base.errors import DagoraError
from dagora.data.table import Table
from dagora.data.writers import write_table
from dagora.formats.json_format import render_result
from dagora.formats.registry import (
    convert,
    read_content,
    read_graph,
    read_network,
    write_graph,
    write_network,
)
from dagora.learners.result import Result
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.posterior.resample.strengths import Strengths
from tests.attacks.fuzz import damage, tries

TABLES = ("csv", "tsv", "json", "arff", "parquet", "feather", "xlsx")
NETWORKS = ("bif", "json", "xml", "net", "xdsl", "uai", "dsc")
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


ODD = [
    None, True, -1, 0.5, 1e308, 2**70, 10**400, "", "a" * 300, "\x1b[31m", [], {}, [[]], [["x"]], [1],
    {"a": []}, "soil", ["soil", "season"],
]  # fmt: skip


def saved_files(folder):
    """The JSON of networks of each kind, and of results with their parameters."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(200, 3)) @ [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    tables = {
        "discrete": sample_network(greenhouse(), 200, seed=1),
        "gaussian": Table.from_numpy(x, names="xyz"),
        "mixed": Table.from_numpy(np.column_stack([x[:, 0] > 0, x]), names="uxyz", discrete="u"),
    }
    found = {}
    for kind, table in tables.items():
        result = dagora.learn(table, "hill-climb")
        network = dagora.fit(result, table)
        write_network(network, folder / f"{kind}.json")
        found[kind] = json.loads((folder / f"{kind}.json").read_text())
        found[f"result {kind}"] = json.loads(render_result(result.to_dict(), network, None))
        assert {"origin", "directions"} <= {key for place in places(found[kind]) for key in place}
    return found


def places(content, place=()):
    """Where the parts of a JSON value are."""
    yield place
    inner = content if isinstance(content, dict) else range(len(content) if isinstance(content, list) else 0)
    for key in inner:
        yield from places(content[key], (*place, key))


def with_odd_parts(content, draw):
    """The content with parts that are gone, doubled, or of another kind; shallow places as often as deep ones."""
    content = copy.deepcopy(content)
    for _ in range(draw.choice([1, 1, 2])):
        listed = [place for place in places(content) if place]
        depth = draw.choice(sorted({len(place) for place in listed}))
        *above, last = draw.choice([place for place in listed if len(place) == depth])
        inside = content
        for key in above:
            inside = inside[key]
        how = draw.randrange(4)
        if how == 0:
            del inside[last]
        elif how == 1 and isinstance(inside, list):
            inside.insert(last, copy.deepcopy(inside[last]))
        else:
            inside[last] = copy.deepcopy(draw.choice(ODD))
    return content


@pytest.mark.fuzz
@pytest.mark.full
def test_odd_parts_of_saved_networks(tmp_path):
    """Before, pairs of lists, numbers beyond all floats and texts in place of numbers gave tracebacks."""
    file, saved = tmp_path / "odd.json", saved_files(tmp_path)
    uses = [
        read_content,
        read_network,
        lambda file: read_network(file).query(of=[*read_graph(file).nodes, "soil"][:1]),
        lambda file: convert(file, tmp_path / "converted.dot"),
        lambda file: convert(file, tmp_path / "converted.bif"),
        lambda file: dagora.adjustment(file, *[*read_graph(file).nodes, "x", "y"][:2]).to_text(),
        lambda file: repr(Result.from_json(file.read_text())),
        lambda file: Result.from_json(file.read_text()).to_json(),
        lambda file: Strengths.from_json(file.read_text()),
    ]
    for draw in tries(2):
        odd = with_odd_parts(saved[draw.choice(sorted(saved))], draw)
        file.write_text(json.dumps(odd))
        try:
            draw.choice(uses)(file)
        except DagoraError as error:
            assert "\n" not in str(error)
