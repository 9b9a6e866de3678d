"""Graphs in time: the window and back, files, classes, comparisons, pictures in slices."""

import numpy as np
import pytest

from dagora.base.errors import GraphError
from dagora.base.parsing import parse_json
from dagora.formats.json_format import parse_graph, render_graph
from dagora.graph import lagged_graph
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.drawing import draw_svg
from dagora.graph.lagged_graph import LaggedGraph, class_in_time, lagged_name, split_name
from dagora.graph.metrics import compare

GRAPH = LaggedGraph("abc", 2, [("a", "b", 0), ("b", "c", 0), ("a", "a", 1), ("c", "b", 2)])


def test_the_window_and_back_also_with_nodes_in_another_order() -> None:
    assert LaggedGraph.of_window(GRAPH.window) == GRAPH
    turned = GRAPH.window.reorder(sorted(GRAPH.window.nodes, reverse=True))
    found = LaggedGraph.of_window(turned)
    assert found is not None
    assert set(found.edges) == set(GRAPH.edges)


@pytest.mark.parametrize(
    "graph",
    [
        DAG("ab", [("a", "b")]),
        DAG(["a", "b", "a[t-1]"]),  # b has no earlier node
        DAG(["a", "a[t-1]"], [("a", "a[t-1]")]),  # against time
        DAG(["a", "a[t-2]"]),  # a step is missing
        CPDAG(["a", "a[t-1]"], undirected=[("a", "a[t-1]")]),
    ],
)
def test_other_graphs_are_no_windows(graph: DAG | CPDAG) -> None:
    assert LaggedGraph.of_window(graph) is None


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ([("a", "b", 3)], "lag 3: choose 0 to 2"),
        ([("a", "z", 1)], "'z'"),
        ([("a", "b")], r'edges are a list such as \("a", "b", 1\)'),
        ([("a", "b", 0), ("b", "a", 0)], "cycle"),
        ([("a", "b[t-1]", 1)], "there is no variable"),
    ],
)
def test_impossible_edges_are_refused(edges: list[tuple], said: str) -> None:
    with pytest.raises(GraphError, match=said):
        LaggedGraph("abc", 2, edges)


def test_json_is_its_own_and_can_be_read_as_a_graph() -> None:
    text = render_graph(GRAPH.window)
    assert parse_graph(text) == GRAPH.window
    assert LaggedGraph.from_dict(parse_json(text)) == GRAPH
    with pytest.raises(GraphError, match="not a graph in time"):
        LaggedGraph.from_dict({"nodes": ["a"], "edges": []})


def all_windows_like(graph: LaggedGraph) -> list[LaggedGraph]:
    """All graphs in time with the same skeleton and v-structures, by trying all directions within a step."""
    within = [(a, b) for a, b, lag in graph.edges if not lag]
    found = []
    for bits in range(2 ** len(within)):
        turned = [(b, a, 0) if bits >> k & 1 else (a, b, 0) for k, (a, b) in enumerate(within)]
        try:
            other = LaggedGraph(graph.variables, graph.lags, [*turned, *graph.lagged])
        except GraphError:
            continue
        if v_structures(other.window) == v_structures(graph.window):
            found.append(other)
    return found


def v_structures(dag: DAG) -> set[tuple[frozenset[str], str]]:
    return {
        (frozenset((a, b)), node)
        for node in dag.nodes
        for a in dag.parents(node)
        for b in dag.parents(node)
        if a < b and a not in dag.parents(b) and b not in dag.parents(a)
    }


@pytest.mark.parametrize("seed", range(12))
def test_the_class_has_the_directions_that_all_its_graphs_share(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = [(a, b, 0) for a, b in ("ab", "ac", "bc", "bd", "cd") if rng.random() < 0.6]
    edges += [(a, b, 1) for a in "abcd" for b in "abcd" if rng.random() < 0.1]
    graph = LaggedGraph("abcd", 1, edges)
    windows = [set(other.window.edges) for other in all_windows_like(graph)]
    found = class_in_time(graph.window, graph.variables)
    assert set(found.edges) == set.intersection(*windows)


def test_comparison_judges_both_kinds_of_edges() -> None:
    guess = LaggedGraph("abc", 2, [("b", "a", 0), ("b", "c", 0), ("a", "a", 1), ("a", "b", 1)])
    found = compare(guess.window, GRAPH.window)
    assert (found.within.shd, found.within.correct, found.within.reversed) == (1, 1, 1)
    assert (found.lagged.shd, found.lagged.correct, found.lagged.extra, found.lagged.missing) == (2, 1, 1, 1)
    assert found.lagged.f1 == 0.5
    assert found.lagged.fpr == 1 / (2 * 9 - 2)
    assert found.shd == 3
    assert [name for name, _ in found.rows()] == ["DAG", "within", "lagged", "CPDAG", "skeleton"]
    assert found.to_dict()["lagged"]["missing"] == 1
    assert "lagged" not in compare(DAG("ab"), DAG("ab")).to_dict()


def test_the_picture_has_a_column_for_each_slice() -> None:
    picture = draw_svg(GRAPH.window, truth=GRAPH.window, title="in time")
    for heading in ("t − 2", "t − 1", ">t<"):
        assert heading in picture
    places = {
        node: float(picture.split(f'data-node="{node}"')[1].split('<text x="')[1].split('"')[0])
        for node in GRAPH.window.nodes
    }
    assert len({places[node] for node in ("a", "b", "c")}) == 1
    assert places["a[t-2]"] < places["a[t-1]"] < places["a"]
    assert picture.count("data-tail=") == len(GRAPH.edges)
    missing = draw_svg(LaggedGraph("abc", 2).window, truth=GRAPH.window)
    assert missing.count("(missing)") == len(GRAPH.edges)


def test_a_truth_value_is_no_lag() -> None:
    with pytest.raises(GraphError, match="has the lag True: choose 0 to 1"):
        LaggedGraph("ab", 1, [("a", "b", True)])
    with pytest.raises(GraphError, match="lags must be a whole number, 0 or more, not True"):
        LaggedGraph("ab", True)


def test_rates_of_lagged_edges_count_pairs_of_an_earlier_and_a_present_node() -> None:
    found = compare(LaggedGraph("ab", 1, [("a", "b", 1)]).window, LaggedGraph("ab", 1).window)
    assert found.lagged is not None
    assert found.lagged.fpr == 1 / 4


def test_unrolled_steps_have_all_edges_between_them() -> None:
    found = GRAPH.unrolled(4)
    assert found.nodes == tuple(name if not k else f"{name}[t-{k}]" for k in range(4) for name in "abc")
    expected = {
        (f"{tail}@{step - lag}", f"{head}@{step}")
        for tail, head, lag in GRAPH.edges
        for step in range(4)
        if step - lag >= 0
    }

    def at(node: str) -> str:
        name, lag = split_name(node)
        return f"{name}@{3 - lag}"

    assert {(at(tail), at(head)) for tail, head in found.edges} == expected
    assert GRAPH.unrolled(1).edges == GRAPH.within.edges
    assert LaggedGraph.of_unrolled(GRAPH.unrolled(3)) == GRAPH
    assert LaggedGraph.of_unrolled(GRAPH.window) == GRAPH
    back = DAG(["a", "a[t-1]"], [("a", "a[t-1]")])
    assert LaggedGraph.of_unrolled(back) is None
    assert LaggedGraph.of_unrolled("a") is None
    for steps in (0, 1.5, True):
        with pytest.raises(GraphError, match="a whole number of steps, 1 or more"):
            GRAPH.unrolled(steps)


def test_more_steps_do_not_change_what_to_adjust_for() -> None:
    """Paths between x[t-h] and y stay within h + lags + 1 steps, as far as adjustment is concerned."""
    for ahead in range(3):
        for cause in "abc":
            x = lagged_name(cause, ahead)
            if x == "b":
                continue
            few, many = (GRAPH.unrolled(ahead + extra).adjustment(x, "b") for extra in (3, 7))
            assert few.verdict == many.verdict
            assert few.optimal == many.optimal
            if few.optimal is not None:
                assert many.is_valid(few.optimal)


def test_lines_within_a_step_survive_the_window_and_files() -> None:
    graph = LaggedGraph("abc", 1, [("a", "a", 1), ("c", "b", 0)], undirected=[("b", "a")])
    window = graph.window
    assert isinstance(window, CPDAG)
    assert window.undirected == (("a", "b"),)
    assert LaggedGraph.of_window(window) == graph
    assert (
        LaggedGraph.from_dict(parse_json(str(graph.to_dict()).replace("'", '"'), error=GraphError)) == graph
    )
    assert parse_graph(render_graph(window)) == window
    assert graph.within == CPDAG("abc", [("c", "b")], [("a", "b")])
    assert str(graph).splitlines() == ["c -> b", "a[t-1] -> a", "a -- b"]
    assert class_in_time(window, graph.variables) == window
    assert "t − 1" in draw_svg(window)


def test_classes_in_time_are_compared_within_and_across_steps() -> None:
    truth = LaggedGraph("abc", 1, [("a", "b", 0), ("b", "b", 1)])
    found = LaggedGraph("abc", 1, [("b", "b", 1)], undirected=[("a", "b")])
    comparison = compare(found.window, truth.window)
    assert comparison.within is not None
    assert comparison.lagged is not None
    assert (comparison.skeleton.shd, comparison.within.shd, comparison.lagged.shd) == (0, 0, 0)


@pytest.mark.parametrize(
    "graph",
    [
        CPDAG(["a", "b", "a[t-1]", "b[t-1]"], undirected=[("a", "b[t-1]")]),
        CPDAG(["a", "b", "a[t-1]", "b[t-1]"], [("a", "a[t-1]")], [("a", "b")]),
    ],
)
def test_lines_to_the_past_are_no_window(graph: CPDAG) -> None:
    assert LaggedGraph.of_window(graph) is None


def test_lines_are_directed_as_in_a_graph_of_the_class_or_by_order() -> None:
    line = LaggedGraph("ab", 1, [("a", "a", 1), ("a", "b", 1)], [("a", "b")])
    assert line.directed().window == line.window.extension()
    odd = LaggedGraph("ab", 1, [("a", "a", 1), ("b", "b", 1)], [("a", "b")])
    with pytest.raises(GraphError, match="no consistent extension"):
        odd.window.extension()
    assert set(odd.directed().edges) == {*odd.edges, ("a", "b", 0)}
    turned = LaggedGraph("abc", 1, [("c", "b", 0), ("b", "a", 0), ("a", "a", 1), ("c", "c", 1)], [("a", "c")])
    assert ("c", "a", 0) in turned.directed().edges, "a → c would close a cycle"
    with pytest.raises(GraphError, match="lines without a direction"):
        odd.unrolled(2)


@pytest.mark.parametrize("lag", ["999999999", "9" * 6000])
def test_an_enormous_lag_in_a_name_takes_no_memory(lag: str) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a set of all nodes was made")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lagged_graph, "range", refuse, raising=False)
        assert LaggedGraph.of_window(DAG(["x", f"x[t-{lag}]"])) is None
