import gzip
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import GraphError
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.drawing import JUDGED, SHOWN, STYLES, clean_letters, draw_svg
from dagora.graph.effect_picture import WORDS
from dagora.graph.metrics import compare
from tests.graph.graph_strategies import dags

SVG = "{http://www.w3.org/2000/svg}"


def parse(text):
    return ET.fromstring(text)  # raises where the text is not well-formed


def tooltips(text):
    return [element.text for element in parse(text).iter(f"{SVG}title")][1:]


def legend(text):
    words = [element.text or "" for element in parse(text).iter(f"{SVG}text")]
    return {
        w.split()[0]: int(w.split()[1])
        for w in words
        if re.fullmatch(r"(correct|reversed|extra|missing) \d+", w)
    }


def test_nodes_and_edges_are_all_there():
    text = draw_svg(DAG("abc", [("a", "b"), ("a", "c")]), title="three")
    root = parse(text)
    assert root.find(f"{SVG}title").text == "three"
    assert root.get("role") == "img"
    assert sorted(tooltips(text)) == ["a", "a → b", "a → c", "b", "c"]
    assert len(list(root.iter(f"{SVG}path"))) == 4  # two lines, two arrowheads
    assert not [element for element in root.iter() if element.get("id")]


def test_undirected_edges_have_no_arrowhead():
    text = draw_svg(CPDAG("abc", [("a", "b")], [("b", "c")]))
    assert {"a → b", "b — c"} <= set(tooltips(text))
    assert len(list(parse(text).iter(f"{SVG}path"))) == 3


def test_verdicts_are_coloured_and_counted():
    truth = DAG("abcd", [("a", "b"), ("b", "c"), ("c", "d")])
    text = draw_svg(DAG("dcba", [("a", "b"), ("c", "b"), ("a", "d")]), truth=truth)
    assert legend(text) == {"correct": 1, "reversed": 1, "extra": 1, "missing": 1}
    found = {}
    for group in parse(text).iter(f"{SVG}g"):
        name, path = group.find(f"{SVG}title"), group.find(f"{SVG}path")
        if name is not None and path is not None:
            found[name.text] = (path.get("stroke"), path.get("stroke-dasharray") or "")
    assert found == {
        "a → b (correct)": STYLES["correct"],
        "c → b (reversed)": STYLES["reversed"],
        "a → d (extra)": STYLES["extra"],
        "c → d (missing)": STYLES["missing"],
    }


@pytest.mark.full
@settings(max_examples=40)
@given(st.data())
def test_legend_agrees_with_the_metrics(data):
    truth = data.draw(dags(min_nodes=2, max_nodes=7))
    estimate = data.draw(dags(min_nodes=len(truth), max_nodes=len(truth)))
    for guess in (estimate, CPDAG.from_dag(estimate)):
        metrics = compare(guess, truth).dag
        assert legend(draw_svg(guess, truth=truth)) == {
            verdict: getattr(metrics, verdict) for verdict in ("correct", "reversed", "extra", "missing")
        }


def test_verdicts_differ_without_colour_and_stand_out_on_white():
    for legend in (JUDGED, SHOWN, WORDS):  # those that stand beside each other
        patterns = [STYLES[verdict][1] for verdict in legend]
        assert len(set(patterns)) == len(patterns)
    for colour, _ in STYLES.values():
        channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        luminance = np.dot(linear, [0.2126, 0.7152, 0.0722])
        assert 1.05 / (luminance + 0.05) > 3  # the contrast that WCAG 2 asks of graphics


def test_weights_set_width_and_label():
    weights = np.array([[0, 0.5, -2.0], [0, 0, 0], [0, 0, 0]])
    text = draw_svg(DAG.from_numpy(weights, "abc"), weights=weights)
    assert {"a → b: 0.5", "a → c: -2"} <= set(tooltips(text))
    assert {"0.50", "-2.00"} <= {element.text for element in parse(text).iter(f"{SVG}text")}
    widths = {
        group.find(f"{SVG}title").text: float(group.find(f"{SVG}path").get("stroke-width"))
        for group in parse(text).iter(f"{SVG}g")
        if group.find(f"{SVG}path") is not None
    }
    assert widths["a → c: -2"] > widths["a → b: 0.5"]


@given(st.lists(st.text(min_size=0, max_size=40), min_size=1, max_size=4, unique=True), st.text(max_size=20))
@settings(max_examples=25)
def test_any_names_give_well_formed_xml(names, title):
    dag = DAG.from_numpy(np.triu(np.ones((len(names), len(names))), 1), names)
    root = parse(draw_svg(dag, truth=DAG(names), title=title))
    drawn = [group.get("data-node") for group in root.iter(f"{SVG}g") if group.get("data-node") is not None]
    assert drawn == [clean_letters(name) for name in names]
    edges = [group for group in root.iter(f"{SVG}g") if group.get("data-tail") is not None]
    assert len(edges) == len(dag.edges)
    assert all(group.find(f"{SVG}title").text.endswith("(extra)") for group in edges)


def test_names_are_escaped_and_long_ones_cut():
    name = '<script>alert("x")</script> & a very long name indeed'
    text = draw_svg(DAG([name]))
    assert "<script" not in text
    shown = next(element.text for element in parse(text).iter(f"{SVG}text"))
    assert shown.endswith("…")
    assert len(shown) == 28
    assert tooltips(text) == [name]


@pytest.mark.parametrize("graph", [DAG([]), DAG("a"), CPDAG("ab"), CPDAG("abc", ["ab", "bc", "ca"])])
def test_odd_graphs(graph):
    text = draw_svg(graph, truth=graph, title="")
    assert tooltips(text) == [*(f"{a} → {b} (correct)" for a, b in graph.edges), *graph.nodes]
    assert legend(text) == {"correct": len(graph.edges), "reversed": 0, "extra": 0, "missing": 0}
    width, height = (float(parse(text).get(side)) for side in ("width", "height"))
    assert width > 0
    assert height > 0


def test_everything_lies_inside_the_picture():
    dag = DAG.from_numpy(np.triu(np.ones((9, 9)), 1), [f"a rather long name {k}" for k in range(9)])
    root = parse(draw_svg(dag))
    _, _, width, height = map(float, root.get("viewBox").split())
    canvas = root.find(f"{SVG}g")
    left, top = map(float, re.findall(r"[\d.]+", canvas.get("transform")))
    for box in canvas.iter(f"{SVG}rect"):
        assert left + float(box.get("x")) >= 0
        assert left + float(box.get("x")) + float(box.get("width")) <= width
        assert top + float(box.get("y")) + float(box.get("height")) <= height


def test_same_graph_same_picture():
    dag = DAG("abc", [("a", "b"), ("b", "c")])
    assert draw_svg(dag) == draw_svg(DAG("abc", reversed(dag.edges)))


def test_refuses():
    dag = DAG("ab", [("a", "b")])
    with pytest.raises(GraphError, match="weights must be a 2 × 2 matrix"):
        draw_svg(dag, weights=[1.0])
    with pytest.raises(GraphError, match="finite"):
        draw_svg(dag, weights=[[0, np.nan], [0, 0]])
    with pytest.raises(GraphError, match="'c' is a node of the truth"):
        draw_svg(dag, truth=DAG("abc"))


def test_a_real_network(data_dir):
    content = gzip.decompress((data_dir / "networks" / "alarm.bif.gz").read_bytes()).decode()
    nodes = re.findall(r"variable\s+(\S+)", content)
    families = re.findall(r"probability\s*\(\s*(\S+)\s*\|([^)]*)\)", content)
    dag = DAG(
        nodes, [(parent.strip(), child) for child, parents in families for parent in parents.split(",")]
    )
    shown = tooltips(draw_svg(dag))
    assert sorted(shown) == sorted([*nodes, *(f"{tail} → {head}" for tail, head in dag.edges)])
    assert len(shown) == 37 + 46


def numbers(path):
    """The points of an SVG path, in order."""
    values = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d"))]
    return list(zip(values[::2], values[1::2], strict=True))


def test_edges_lead_from_the_tail_to_the_head_and_arrowheads_touch_it():
    dag = DAG("abcd", [("a", "b"), ("a", "c"), ("b", "d"), ("a", "d")])
    root = parse(draw_svg(dag))
    boxes = {
        group.get("data-node"): [
            float(group.find(f"{SVG}rect").get(k)) for k in ("x", "y", "width", "height")
        ]
        for group in root.iter(f"{SVG}g")
        if group.get("data-node")
    }
    drawn = {
        (group.get("data-tail"), group.get("data-head")): [numbers(path) for path in group.iter(f"{SVG}path")]
        for group in root.iter(f"{SVG}g")
        if group.get("data-tail")
    }
    assert set(drawn) == set(dag.edges)
    for (tail, head), (line, arrow) in drawn.items():
        x, y, width, height = boxes[tail]
        assert x <= line[0][0] <= x + width, "it leaves within the box"
        assert line[0][1] == pytest.approx(y + height, abs=0.1), "at the bottom of the tail"
        x, y, width, _ = boxes[head]
        assert x <= arrow[0][0] <= x + width
        assert arrow[0][1] == pytest.approx(y, abs=0.1), "the tip is at the top of the head"
        assert line[-1][1] < arrow[0][1], "and the line ends above it"


@pytest.mark.parametrize(("nodes", "labelled"), [(9, True), (10, False)])
def test_weights_of_many_edges_are_in_tooltips_only(nodes, labelled):
    weights = np.triu(np.full((nodes, nodes), 0.25), 1)  # 36 or 45 edges, around the limit of 40
    text = draw_svg(DAG.from_numpy(weights), weights=weights)
    words = [element.text for element in parse(text).iter(f"{SVG}text")]
    edges = nodes * (nodes - 1) // 2
    assert words.count("0.25") == edges * labelled
    assert sum(": 0.25" in tip for tip in tooltips(text)) == edges
