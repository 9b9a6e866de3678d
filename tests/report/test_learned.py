"""The page of a result says what the result says."""

import json
from base64 import b64decode
from itertools import islice

import numpy as np
import pytest

import dagora
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.equivalence import cpdag_matrix
from dagora.learners.result import Result
from dagora.network.fit import fit
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.report.learned import result_page
from dagora.report.parameters import MOST_CONFIGURATIONS
from dagora.stats.table import TableStatistics
from tests.report.reading import read, table_under


@pytest.fixture(scope="module")
def garden():
    network = greenhouse()
    table = sample_network(network, 2000, seed=1)
    return network, table, dagora.learn(table, "tabu")


def linked(page):
    (address,) = [tags["href"] for _, tags in page.tags if "download" in tags]
    return json.loads(b64decode(address.partition("base64,")[2]))


def test_the_page_of_a_discrete_result(garden):
    truth, table, result = garden
    network = fit(result.graph, TableStatistics(table))
    page = read(result_page(result, truth=truth.graph, network=network, source="garden.csv"))
    assert page.within("h1") == ["tabu on garden.csv"]
    assert linked(page) == result.to_dict()
    edges = table_under(page, "from", "to", "direction")
    assert [tuple(row[:2]) for row in edges] == list(result.graph.edges)
    comparison = dagora.compare(result.graph, truth.graph)
    verdicts = [row[-1] for row in edges]
    assert verdicts.count("correct") == round(comparison.dag.tpr * len(truth.graph.edges))
    assert table_under(page, "compared as")[0][1] == str(comparison.shd)
    (drawing,) = [k for k, (tag, _) in enumerate(page.tags) if tag == "div" and "canvas" in str(page.tags[k])]
    drawn = [(tags["data-tail"], tags["data-head"]) for _, tags in page.tags[drawing:] if "data-tail" in tags]
    found = {frozenset(edge) for edge in result.graph.edges}
    missing = [edge for edge in truth.graph.edges if frozenset(edge) not in found]
    assert sorted(drawn) == sorted([*result.graph.edges, *missing])


def test_probabilities_on_the_page_are_those_of_the_network(garden):
    _, table, result = garden
    network = fit(result.graph, TableStatistics(table))
    page = read(result_page(result, network=network))
    for node in network.graph:
        parents = network.graph.parents(node)
        head = (*parents, *(f"{node} = {level}" for level in network.levels[node]))
        rows = table_under(page, *head)[: network.tables[node].size // len(network.levels[node])]
        shares = [[float(cell) for cell in row[len(parents) :]] for row in rows]
        expected = network.tables[node].reshape(-1, len(network.levels[node]))[:MOST_CONFIGURATIONS]
        assert np.abs(np.array(shares) - expected).max() <= 0.0005 + 1e-12
        # The last parent changes fastest, as the tables' axes do.
        assert [row[: len(parents)] for row in rows] == [
            [network.levels[p][k] for p, k in zip(parents, np.unravel_index(at, expected_shape), strict=True)]
            for expected_shape in [network.tables[node].shape[:-1]]
            for at in range(len(rows))
        ]


def test_the_page_of_a_weighted_result():
    table = dagora.simulate(dagora.random_dag("er", 6, 1.5, seed=4), "gaussian", 400, seed=4).table
    result = dagora.learn(table, "notears")
    page = read(result_page(result, network=fit(result.graph, TableStatistics(table))))
    rows = table_under(page, "from", "to", "direction", "weight")
    assert [tuple(row[:2]) for row in rows] == list(result.graph.edges)
    assert rows
    for tail, head, _, weight in rows:
        exact = result.weights[result.graph.index(tail), result.graph.index(head)]
        assert float(weight.replace("−", "-")) == pytest.approx(exact, rel=1e-3)
    assert len(table_under(page, "variable", "mean")) == 6
    assert [row[0] for row in table_under(page, "setting", "value")].count("lambda1") == 1


def test_names_and_messages_cannot_break_out():
    evil = ['</script><script>alert("1")</script>', "<b>'&amp;\"", "\x01nul\x00"]
    result = Result(
        DAG(evil, [(evil[0], evil[1]), (evil[1], evil[2])]),
        "hill-climb",
        "finished",
        "<script>1</script>",
        warnings=("<script>2</script>",),
        settings={"knowledge": {"required": [evil[:2]]}},
    )
    page = read(result_page(result, source="<script>3</script>"))
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert linked(page)["nodes"] == evil
    assert page.within("ul") == ["<script>2</script>"]


@pytest.mark.full
def test_a_direction_is_determined_where_all_equivalent_graphs_have_it():
    graphs = list(islice(all_dags(4), None))
    assert len(graphs) == 543
    classes = {}
    for graph in graphs:
        classes.setdefault(cpdag_matrix(graph.to_numpy()).tobytes(), []).append(set(graph.edges))
    for members in classes.values():
        shared = set.intersection(*members)
        for edges in members:
            assert set(Result(DAG(graphs[0].nodes, edges), "tabu", "finished", "").cpdag.edges) == shared


def test_learning_curves_are_drawn():
    curves = {"episode": (-5.0, -7.0, -4.0, -6.0), "polished episode": (-4.0, -4.0, -3.0, -4.0)}
    without = read(result_page(Result(DAG("ab"), "rbnets", "finished", "done", -3.0, "bic")))
    page = read(result_page(Result(DAG("ab"), "rbnets", "finished", "done", -3.0, "bic", curves=curves)))
    assert [title for title in page.within("h2") if title not in without.within("h2")] == ["Learning curve"]
    lines = [tags["points"].split() for tag, tags in page.tags if tag == "polyline"]
    for line, values in zip(lines, curves.values(), strict=True):
        heights = [-float(point.split(",")[1]) for point in line]
        assert np.argsort(heights, kind="stable").tolist() == np.argsort(values, kind="stable").tolist()
        across = [float(point.split(",")[0]) for point in line]
        assert np.allclose(np.diff(across), across[1] - across[0], atol=0.2)
    assert {"bic against episode", "bic against polished episode"} <= set(page.within("title"))


def test_the_front_door_writes_it(tmp_path, garden):
    _, _, result = garden
    dagora.write_report(result, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == result_page(result)


def test_functions_of_gaussian_processes_are_drawn_with_their_data():
    """A chart for each edge, with a band, a line and a point for each row, and names that cannot break out."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(50)
    names = ["<b>dose", "effect & more", "alone"]
    columns = np.column_stack([x, np.sin(2 * x) + 0.2 * rng.standard_normal(50), rng.standard_normal(50)])
    table = dagora.Table.from_numpy(columns, names=names)
    graph = DAG(names, [(names[0], names[1])])
    result = Result(graph, "hill-climb", "finished", "made up", score_name="gp")
    whole = result_page(result, network=dagora.fit(graph, table, score="gp"))
    page = read(whole)
    assert "Functions" in page.within("h2")
    tags = [tag for tag, _ in page.tags]
    assert (tags.count("circle"), tags.count("polygon")) == (50, 1)
    assert "effect &amp; more as a function of &lt;b&gt;dose" in whole
    rows = table_under(page, "variable", "length-scales", "noise")
    assert [row[0] for row in rows] == names
    assert rows[1][1].startswith("<b>dose ")
    assert rows[0][1] == ""
