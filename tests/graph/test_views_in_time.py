"""The views of a graph in time: a summary, a matrix for each lag, and weak edges of the picture in steps."""

import re
from xml.etree import ElementTree as ET

from dagora.graph.drawing import draw_svg
from dagora.graph.lag_matrices import draw_lags
from dagora.graph.lagged_graph import LaggedGraph
from dagora.graph.summary_picture import draw_summary
from dagora.learners.result import Result
from dagora.report import learned

GRAPH = LaggedGraph(
    ["a", "b", "c<d"], 2, [("a", "b", 0), ("a", "b", 2), ("b", "a", 1), ("b", "b", 1)], [("b", "c<d")]
)
SVG = "{http://www.w3.org/2000/svg}"


def edges_of(picture: str) -> dict[tuple[str, str], ET.Element]:
    found = ET.fromstring(picture).iter(f"{SVG}g")
    return {(g.get("data-tail", ""), g.get("data-head", "")): g for g in found if g.get("data-tail")}


def test_a_summary_has_one_edge_for_each_pair_with_its_lags() -> None:
    edges = edges_of(draw_summary(GRAPH, weak=[("b[t-1]", "b"), ("a[t-2]", "b")]))
    labels = {pair: edge.findtext(f"{SVG}text") for pair, edge in edges.items()}
    assert labels == {("a", "b"): "0, 2", ("b", "a"): "1", ("b", "b"): "1", ("b", "c<d"): "0"}
    assert edges["b", "c<d"].get("data-sign") == "---"
    dashed = {pair for pair, edge in edges.items() if "(weak)" in edge.findtext(f"{SVG}title", "")}
    assert dashed == {("b", "b")}, "a pair with a strong edge is not weak"


def test_a_matrix_for_each_lag_has_its_edges() -> None:
    pictures = [ET.fromstring(one) for one in draw_lags(GRAPH, weak=[("a[t-2]", "b")])]
    marks = [[mark.text for mark in one.iter(f"{SVG}title")][1:] for one in pictures]
    assert marks == [["a → b", "b — c<d", "b — c<d"], ["b[t-1] → a", "b[t-1] → b"], ["a[t-2] → b (weak)"]]
    rows = [mark for mark in pictures[1].iter(f"{SVG}rect") if mark.find(f"{SVG}title") is not None]
    assert [(mark.get("x"), mark.get("y")) for mark in rows] == [("3.5", "20.5"), ("20.5", "20.5")]


def test_a_weak_edge_from_an_earlier_step_keeps_its_arrow_and_is_dashed() -> None:
    graph = LaggedGraph("ab", 1, [("a", "b", 0), ("a", "a", 1), ("b", "b", 1)]).window
    picture = draw_svg(graph, unsure=[("a", "b"), ("a[t-1]", "a")])
    edges = edges_of(picture)
    assert "a[t-1] → a (weak)" in edges["a[t-1]", "a"].findtext(f"{SVG}title", "")
    assert [path.get("stroke-dasharray") for path in edges["a[t-1]", "a"].iter(f"{SVG}path")] == ["5 4", None]
    assert len([*edges["a", "b"].iter(f"{SVG}path")]) == 1, "a line, since nobody knows its direction"
    assert "weak edge from an earlier step: 1" in picture
    assert "weak" not in draw_svg(graph)


def test_the_report_has_all_views() -> None:
    window = LaggedGraph("ab", 1, [("a", "b", 0), ("a", "a", 1)]).window
    gains = {("a", "b"): 50.0, ("a[t-1]", "a"): 1.0}
    page = learned.result_page(Result(window, "tabu", "finished", "", edge_gains=gains, score_name="bic"))
    section = page[page.index("<h2>Over time</h2>") :]
    titles = re.findall(r"<title>(.*?)</title>", section)
    assert {"Summary of 2 variables, 1 step back", "Edges from t", "Edges from t − 1"} <= {*titles}
    assert "a[t-1] → a (weak)" in titles
