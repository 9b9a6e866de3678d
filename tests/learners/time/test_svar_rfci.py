"""SVAR-RFCI: every mark is checked against causes in the unrolled graph, where tests are right and causes hidden."""

import numpy as np
import pytest

import dagora
from dagora.graph.ancestral.pag import PAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.lagged_graph import LaggedGraph, split_name
from dagora.graph.separation import d_separated
from dagora.learners.run import Run
from dagora.learners.time import svar_rfci as method
from dagora.learners.time.svar_rfci import svar_rfci
from dagora.learners.time.tests_in_windows import WindowTests
from dagora.stats.lagged import SeriesStatistics
from tests.learners.time.separation_in_time import SeparationLinks, random_graph_in_time, unrolled
from tests.stats.test_lagged import panel_of


def learn_from_truth(
    truth: LaggedGraph, monkeypatch: pytest.MonkeyPatch, knowledge: Knowledge | None = None, **options: object
) -> PAG:
    """What the method learns where every test is right."""
    tests = SeparationLinks(truth, reach=3)
    seen = tuple(name for name in truth.variables if not name.startswith("hidden"))

    def true_tests(*_: object) -> WindowTests:
        return WindowTests(tests, tests, "truth", seen, 100, "4 steps", ())

    monkeypatch.setattr(method, "tests_in_windows", true_tests)
    panel = panel_of([np.zeros((9, len(seen)))], seen)
    found = svar_rfci(SeriesStatistics(panel), Run(knowledge or Knowledge()), lags=truth.lags, **options)
    assert found.status == "finished"
    assert not found.warnings, found.warnings
    assert isinstance(found.graph, PAG)
    return found.graph


def at_step(node: str, back: int = 0) -> str:
    """The node of the unrolled graph that a node of the window is, so many steps earlier."""
    name, lag = split_name(node)
    return f"{name}@{lag + back}"


def assert_sound(graph: PAG, truth: LaggedGraph) -> tuple[int, int]:
    """Every tail is at a cause, no arrow is, and pairs that causes separate are the only ones without an edge."""
    whole = unrolled(truth, 10 * truth.lags)
    marks = tails = 0
    for one, sign, other in graph.marked_edges:
        for mark, node, end in ((sign[0], one, other), (sign[2], other, one)):
            cause = at_step(node) in whole.ancestors(at_step(end))
            assert mark == "o" or (mark == "-") == cause, f"{one} {sign} {other} in\n{truth}"
            marks += mark != "o"
            tails += mark == "-"
    joined = {frozenset((one, other)) for one, _, other in graph.marked_edges}
    seen = [name for name in truth.variables if not name.startswith("hidden")]
    nodes = [node for node in graph.nodes if node in seen or split_name(node)[1]]
    for one in nodes:
        for other in seen:
            if one == other or frozenset((one, other)) in joined:
                continue
            causes = whole.ancestors(at_step(one)) | whole.ancestors(at_step(other))
            given = [
                name for name in causes
                if not name.startswith("hidden") and name not in (at_step(one), at_step(other))
            ]  # fmt: skip
            assert d_separated(whole, at_step(one), at_step(other), given), f"{one}, {other} in\n{truth}"
    return marks, tails


@pytest.mark.full
@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize(("d", "lags", "hidden"), [(3, 1, 1), (4, 1, 1), (4, 2, 1), (5, 1, 2)])
def test_where_every_test_is_right_every_mark_is(
    d: int, lags: int, hidden: int, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = tails = 0
    for seed in range(8):
        truth = random_graph_in_time(d, lags, seed, hidden)
        found = learn_from_truth(truth, monkeypatch, rounds=rounds)
        more, of_causes = assert_sound(found, truth)
        marks, tails = marks + more, tails + of_causes
    assert marks > tails > 0, "some causes are found, else nothing was tested"


def test_a_hidden_cause_shows_in_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each series depends on itself; a acts on b, d on c, something hidden on b and c."""
    truth = LaggedGraph(
        ["a", "b", "c", "d", "hidden"], 2,
        [("a", "b", 1), ("d", "c", 1), ("hidden", "b", 0), ("hidden", "c", 0),
         *((name, name, 1) for name in "abcd")],
    )  # fmt: skip
    found = learn_from_truth(truth, monkeypatch)
    assert_sound(found, truth)
    assert found.sign("b", "c") == "<->"
    assert found.sign("a[t-1]", "b") == "-->"
    assert found.sign("a", "d") is None
    assert found.sign("a", "b") is None


def test_nothing_leads_into_the_past_and_knowledge_is_about_causes() -> None:
    table = dagora.simulate_series(dagora.random_dag("er", 4, 1.0, 1), 400, 1, lags=1).table
    rows = table.select(table.names[1:])
    found = dagora.learn(rows, "svar-rfci", time="t")
    assert isinstance(found.graph, PAG)
    for one, sign, other in found.graph.marked_edges:
        assert split_name(one)[1] == 0 or sign[2] == ">", "an arrow at the later end"
        assert split_name(other)[1] == 0
    known = Knowledge(required=[("x3[t-1]", "x0")], forbidden=[("x0", "x1"), ("x1", "x0")])
    told = dagora.learn(rows, "svar-rfci", time="t", knowledge=known).graph
    assert told.sign("x3[t-1]", "x0") == "-->"
    assert told.sign("x0", "x1") in (None, "<->")
    turned = dagora.learn(rows.select(["t", "x2", "x0", "x3", "x1"]), "svar-rfci", time="t")
    assert turned.graph.reorder(found.graph.nodes) == found.graph
