"""The edges on paths from x to y are those of all simple paths, listed one by one."""

from itertools import pairwise

import networkx as nx
import pytest

from dagora.graph.ancestral.pag import PAG
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.effect_paths import effect_paths
from dagora.graph.effect_picture import draw_effect, effect_legend, effect_roles
from dagora.graph.enumerate import all_dags


def listed(dag, x, y):
    """Edges on causal paths, and on others without a collider, path by path."""
    causal, other = set(), set()
    for path in nx.all_simple_paths(nx.Graph(dag.edges), x, y):
        steps = list(pairwise(path))
        down = [dag.has_edge(*step) for step in steps]
        if any(before and not after for before, after in pairwise(down)):
            continue  # a collider
        (causal if all(down) else other).update(frozenset(step) for step in steps)
    return frozenset(causal), frozenset(other) - causal


def test_all_dags_on_four_nodes():
    for dag in all_dags(4):
        for y in ("x1", "x3"):
            if {"x0", y} <= set(nx.Graph(dag.edges)):
                assert effect_paths(dag, ["x0"], y, identified=True) == listed(dag, "x0", y)


def test_several_causes_meet_a_path_in_its_first_node_only():
    dag = DAG("cxzy", ["cx", "cz", "xz", "zy"])
    found = effect_paths(dag, ["x", "z"], "y", identified=True)
    assert found.causal == {frozenset("zy")}
    assert found.other == frozenset()


def test_open_directions_are_no_causal_paths():
    graph = CPDAG("xmy", [], ["xm", "my"])
    assert effect_paths(graph, "x", "y", identified=False).causal == frozenset()
    pag = PAG("xmy", [("x", "-->", "m"), ("m", "o->", "y")])
    assert effect_paths(pag, "x", "y", identified=True).causal == frozenset()


@pytest.mark.parametrize("identified", [True, False])
def test_the_picture_has_what_its_legend_names(identified):
    arrows = DAG("sxmy", ["sx", "sy", "xm", "my"])
    graph = arrows if identified else CPDAG.from_dag(arrows)
    deciding = () if identified else [("x", "s"), ("x", "m")]
    roles = effect_roles("x", "y", "s" if identified else ())
    paths = effect_paths(graph, "x", "y", identified=identified)
    drawing = draw_effect(graph, roles, paths, deciding)
    words = [word for _, word in effect_legend(roles, paths, deciding)]
    assert all(word in drawing for word in words)
    expected = ["set", "outcome", "adjusted for", "causal path", "path that is not causal"]
    assert words == (expected if identified else ["set", "outcome", "its direction decides"])


def test_causal_paths_stand_out_in_grey_print():
    graph = DAG("xyz", ["xy", "xz"])
    drawing = draw_effect(graph, effect_roles("x", "y", ()), effect_paths(graph, "x", "y", identified=True))
    widths = {
        line.partition("<title>")[2][:5]: float(line.partition('stroke-width="')[2].partition('"')[0])
        for line in drawing.splitlines()
        if "data-tail" in line
    }
    assert widths["x → y"] > 1.5 * widths["x → z"]
