"""Runs and results: the same as without the page, stopped with the best so far, saved in files that others read."""

import json
import shlex
import time
from dataclasses import replace
from io import StringIO

import pytest

import dagora
from dagora.base.budget import Budget
from dagora.base.events import Event
from dagora.explore.best_so_far import BestSoFar, GraphSender
from dagora.explore.worker import Ear, Voice, Watcher
from dagora.graph.any_graph import number_of_edges
from dagora.graph.compare import compare
from dagora.report.strength_section import strength_sections
from tests.explore.conftest import Client
from tests.report.reading import read

ENDLESS = {"method": "tabu", "options": {"patience": "1000000000"}}


@pytest.fixture(scope="module")
def first(client: Client) -> int:
    return client.learned(method="tabu")


def test_the_same_as_without_the_page(client: Client, first: int, garden, run, tmp_path) -> None:
    expected = dagora.learn(garden, "tabu")
    saved = client.get(f"/api/results/{first}/result.json")
    assert saved.headers["content-disposition"] == f'attachment; filename="result-{first}.json"'
    result = dagora.Result.from_json(saved.body.decode())
    assert (result.graph, result.score, result.status) == (expected.graph, expected.score, expected.status)
    assert result.edge_gains == expected.edge_gains
    (tmp_path / "r.json").write_bytes(saved.body)
    assert dagora.read_network(tmp_path / "r.json").graph == expected.graph
    line = shlex.split(result.command)
    assert line[2] == str(garden), "as it was named"
    assert json.loads(run(*line[1:], "--json").out)["edges"] == [list(edge) for edge in expected.graph.edges]


def test_what_is_shown(client: Client, first: int) -> None:
    shown = client.get(f"/api/results/{first}").json
    assert len(shown["pictures"]) == 2
    assert all(picture.startswith("<svg") for picture in shown["pictures"])
    assert "style=" not in json.dumps(shown), "the page's policy forbids it"
    assert [one["number"] for one in client.get("/api/state").json["results"]].count(first) == 1
    report = client.get(f"/api/results/{first}/report.html")
    assert read(report.body.decode().replace("<!DOCTYPE html>", "")).tags
    assert b"tabu on garden.csv" in report.body
    assert client.server.session.find_result(first).report.exists()


def test_stop_returns_the_best_so_far(client: Client, garden) -> None:
    assert client.post("/api/learn", ENDLESS).status == 200
    client.wait_for_score()
    assert client.post("/api/learn", {}).status == 409, "one run at a time"
    assert client.upload(garden.read_bytes(), "other.csv").status == 409
    began = time.monotonic()
    assert client.post("/api/stop", {}).status == 200
    state = client.finished()
    assert time.monotonic() - began < 20
    scores = [score for _, score in state["trace"]]
    assert scores, "what is told begins with all points so far"
    assert scores == sorted(scores)
    kept = client.get(f"/api/results/{state['result']}").json
    assert (kept["status"], "it was stopped" in kept["message"]) == ("time-limit", True)
    assert kept["score"] == dagora.learn(garden, "tabu").score, "it has found that long before"
    assert client.post("/api/stop", {}).error == "nothing is running"


@pytest.mark.full
def test_the_best_graph_so_far_is_drawn_while_a_method_runs(client: Client, first: int, garden) -> None:
    assert client.post("/api/learn", ENDLESS).status == 200
    client.wait_for_score()
    state, scores, limit = {}, [], time.monotonic() + 60
    for state in client.told():
        scores += [score for _, score in state["trace"]]
        if state.get("best", {}).get("score") == dagora.learn(garden, "tabu").score:
            break
        assert time.monotonic() < limit
    assert scores == sorted(set(scores)), "each point of the trace is told once"
    best = state["best"]
    assert not state["over"]
    told = dagora.learn(garden, "tabu")
    assert best["svg"] == replace(told, edge_gains={}, absent_costs={}, score_name=None).plot().svg, (
        "as the data tell it, with all columns"
    )
    assert (best["edges"], best["open"]) == (len(told.graph.edges), len(told.open_edges))
    assert client.post("/api/stop", {}).status == 200
    assert all("best" not in message for message in client.told()), "none after a stop"


def test_graphs_are_sent_when_they_are_new_and_not_too_large() -> None:
    asked: list[int] = []

    def event(edges) -> Event:
        return Event("climbing", 1, score=-1.0, edges=lambda: asked.append(1) or edges)

    sender = GraphSender("abc", class_only=False)
    assert sender.news(Event("testing", 1), 0.0) is None
    assert sender.news(event((("a", "b"),)), 0.0) == {
        "nodes": ["a", "b", "c"], "edges": (("a", "b"),), "undirected": (), "score": -1.0, "class_only": False,
        "skeleton": False,
    }  # fmt: skip
    assert sender.news(event(()), 0.05) is None, "too early"
    assert len(asked) == 1, "nobody asks for what is not sent"
    assert sender.news(event((("a", "b"),)), 1.0) is None, "it is known"
    assert sender.news(event((("a", "b"),) * 1001), 2.0) is None, "too large"
    assert sender.news(event(()), 3.0)["edges"] == ()
    wide = GraphSender([f"x{k}" for k in range(301)], class_only=True)
    before = len(asked)
    assert (wide.news(event(()), 9.0), len(asked)) == (None, before)
    assert ("301 columns" in wide.reason_not_drawn, sender.reason_not_drawn) == (True, "")


def test_a_class_that_was_learned_is_drawn_while_samples_follow(garden) -> None:
    result = dagora.learn(garden, "pc")
    said = GraphSender(result.graph.nodes, class_only=False).result_news(result)
    drawn = BestSoFar(1, json.loads(json.dumps(said))).picture
    assert drawn["svg"] == result.plot().svg
    assert drawn["edges"] == number_of_edges(result.graph)
    assert drawn["open"] == len(result.graph.undirected) > 0


def test_edges_that_take_long_to_make_are_asked_for_rarely() -> None:
    sender = GraphSender("ab", class_only=True)

    def slow():
        time.sleep(0.05)
        return ()

    assert sender.news(Event("climbing", 1, edges=slow), 0.0)["edges"] == ()
    assert sender.news(Event("climbing", 2, edges=lambda: (("a", "b"),)), 2.0) is None
    assert sender.news(Event("climbing", 2, edges=lambda: (("a", "b"),)), 60.0)["edges"] == (("a", "b"),)


def test_strengths_are_those_of_the_command(client: Client, garden, run) -> None:
    number = client.learned(method="hill-climb", bootstrap=4, seed=3)
    expected = dagora.bootstrap(garden, "hill-climb", samples=4, seed=3)
    shown = client.get(f"/api/results/{number}").json
    assert [part["title"] for part in shown["samples"]] == [
        "Strengths of edges", "What most samples agree on", "Pairs",
    ]  # fmt: skip
    assert shown["samples"][-1]["body"] == strength_sections(expected, None)[-1].body
    assert "style=" not in json.dumps(shown)
    saved = json.loads(client.get(f"/api/results/{number}/result.json").body)
    assert saved["bootstrap"]["samples"] == 4
    told = json.loads(run(*shlex.split(shown["command"])[1:], "--json").out)
    assert saved["bootstrap"]["strengths"] == told["bootstrap"]["strengths"]
    report = client.get(f"/api/results/{number}/report.html").body.decode()
    assert "What most samples agree on" in report


def test_stop_keeps_the_samples_so_far(client: Client, garden) -> None:
    learned, drawn = dagora.learn(garden, "hill-climb"), {}
    assert client.post("/api/learn", {"method": "hill-climb", "bootstrap": 1_000_000}).status == 200
    for state in client.told():
        assert not state["over"]
        drawn = state.get("best", drawn)
        if state["phase"] == "bootstrap" and state["step"] > 3 and drawn.get("score") == learned.score:
            break
    assert state["total"] == 1_000_000
    assert drawn["edges"] == len(learned.graph.edges), "what was learned is seen while samples are drawn"
    assert client.post("/api/stop", {}).status == 200
    number = client.finished()["result"]
    said = json.loads(client.get(f"/api/results/{number}/result.json").body)["bootstrap"]
    assert said["samples"] >= 4
    assert "it was stopped before 1000000 samples" in said["message"]


def test_stopped_before_the_first_sample(client: Client) -> None:
    assert client.post("/api/learn", {**ENDLESS, "bootstrap": 5}).status == 200
    client.wait_for_score()
    assert client.post("/api/stop", {}).status == 200
    state = client.finished()
    assert state["error"] == ""
    shown = client.get(f"/api/results/{state['result']}").json
    assert shown["edges"] > 0
    assert [part["title"] for part in shown["samples"]] == ["Strengths of edges"]
    assert "it was stopped before 5 samples" in shown["samples"][0]["body"].replace("It", "it")


@pytest.mark.full
def test_ended_without_a_result(client: Client, first: int) -> None:
    before = [one["number"] for one in client.get("/api/state").json["results"]]
    assert client.post("/api/learn", ENDLESS).status == 200
    assert client.post("/api/stop", {"at_once": "yes"}).status == 400
    assert client.post("/api/stop", {"at_once": True}).status == 200
    state = client.finished()
    assert (state["result"], state["error"]) == (None, "it was ended, without a result")
    assert [one["number"] for one in client.get("/api/state").json["results"]] == before
    again = client.learned(method="hill-climb", time_limit=30)  # by a new process
    compared = client.get(f"/api/compare/{first}/{again}").json
    assert [one["number"] for one in compared["pair"]] == [first, again]
    assert all(one["picture"].startswith("<svg") for one in compared["pair"])
    one, two = (client.server.session.find_result(number).result.graph for number in (first, again))
    assert f">{compare(two, one).cpdag.shd}<" in compared["table"]
    assert client.get(f"/api/results/{again}/report.html").status == 200
    report = client.server.session.find_result(again).report
    assert report.exists()
    assert client.ask("DELETE", f"/api/results/{again}").status == 200
    assert not report.exists()
    assert client.get(f"/api/results/{again}").status == 400
    assert client.get(f"/api/results/{again}/report.html").status == 400


@pytest.mark.full
def test_a_report_that_cannot_be_written_is_no_end(client: Client) -> None:
    """It is told in one line, and neither its result nor the next run suffers."""
    session = client.server.session
    number = session._numbers + 1
    (session.folder / f"report-{number}.html").mkdir()  # where the report would go
    assert client.learned(method="tabu") == number
    after = client.learned(method="hill-climb")
    refused = client.get(f"/api/results/{number}/report.html")
    assert (refused.status, refused.error.startswith("there is no report: ")) == (400, True)
    assert f"report-{number}.html" in refused.error
    assert str(session.folder) not in refused.error
    assert client.get(f"/api/results/{number}/result.json").status == 200
    assert client.get(f"/api/results/{after}/report.html").status == 200

    session.find_result(after).report = None  # as if it were still being written when the process is killed
    assert client.post("/api/learn", ENDLESS).status == 200
    assert client.post("/api/stop", {"at_once": True}).status == 200
    assert "has ended" in client.get(f"/api/results/{after}/report.html").error


def test_what_is_said_of_another_run_is_not_believed(client: Client) -> None:
    session = client.server.session
    assert client.post("/api/learn", ENDLESS).status == 200
    session._hear(session._worker, {"kind": "error", "run": session.run.number - 1, "line": "late"})
    assert session.running
    session._hear(session._worker, {"kind": "error", "run": session.run.number, "line": "now"})
    assert client.finished()["error"] == "now"
    session._worker.tell(do="stop", run=session.run.number)


def test_why_no_graph_is_drawn_on_the_way_is_told() -> None:
    said = StringIO()
    watcher = Watcher(Voice(said), 3, Budget())
    watcher.begin(GraphSender([f"x{k}" for k in range(301)], class_only=True))
    message = json.loads(said.getvalue())
    assert (message["kind"], message["run"]) == ("undrawn", 3)
    assert "301 columns" in message["words"]
    watcher.begin(GraphSender("ab", class_only=True))
    assert said.getvalue().count("\n") == 1, "nothing to say about few columns"


def test_why_no_graph_is_drawn_reaches_the_page(client: Client) -> None:
    session = client.server.session
    assert client.post("/api/learn", ENDLESS).status == 200
    assert session.run.to_dict()["undrawn"] == ""
    session._hear(session._worker, {"kind": "undrawn", "run": session.run.number, "words": "too wide"})
    assert session.run.to_dict()["undrawn"] == "too wide"
    assert client.post("/api/stop", {"at_once": True}).status == 200


@pytest.mark.full
def test_what_is_no_number_is_not_told(client: Client) -> None:
    """A browser cannot read it: an exact search may have no bound at first."""
    session = client.server.session
    assert client.post("/api/learn", ENDLESS).status == 200
    client.wait_for_score()
    run = session.run
    run.take({**run.last, "score": float("-inf"), "bound": float("inf"), "seconds": 1.0})
    told = run.to_dict()
    assert (told["score"], told["bound"]) == (None, None)
    assert all(score > float("-inf") for _, score in told["trace"])
    json.dumps(told, allow_nan=False)
    assert client.post("/api/stop", {"at_once": True}).status == 200


def test_a_run_has_its_whole_time_and_hears_a_stop_before_its_turn() -> None:
    ear = Ear(StringIO())
    ear._stop(2)
    assert not ear.begin(1, 5.0).exhausted
    assert ear.begin(2, None).reason == "it was stopped"
    budget = ear.begin(3, 5.0)
    assert budget.left > 4.5
    ear._stop(3)
    assert budget.exhausted


@pytest.mark.full
def test_knowledge_is_obeyed_and_read_by_the_command(
    client: Client, first: int, garden, run, tmp_path
) -> None:
    free = client.server.session.find_result(first).result.graph
    tail, head = free.edges[0]
    known = {
        "required": [["pests", "soil"]],
        "forbidden": [[tail, head], [head, tail]],
        "tiers": [["harvest"], ["season"]],
        "max_parents": 2,
    }
    saved = client.post("/api/knowledge", known)
    assert saved.json == known
    (tmp_path / "knowledge.json").write_bytes(saved.body)
    ran = run("learn", garden, "--method", "tabu", "--knowledge", tmp_path / "knowledge.json", "--json")
    expected = {tuple(edge) for edge in json.loads(ran.out)["edges"]}
    result = client.server.session.find_result(client.learned(method="tabu", knowledge=known)).result
    assert set(result.graph.edges) == expected
    assert ("pests", "soil") in expected
    assert dagora.Knowledge.from_dict(known).violations(result.graph) == []
    assert not free.has_edge("pests", "soil"), "or this would show nothing"


def test_columns_are_left_out_and_retyped(client: Client) -> None:
    number = client.learned(method="tabu", reading={"drop": ["season", "cloud"]})
    assert len(client.get(f"/api/results/{number}").json["nodes"]) == 9
    looked = client.post("/api/look", {"drop": ["season"]}).json
    assert looked["table"]["columns"][0]["name"] == "cloud"
    assert "continuous" in client.post("/api/look", {"continuous": ["season"]}).error


@pytest.mark.full
def test_questions(client: Client, first: int) -> None:
    kept = client.server.session.find_result(first)
    asked = {
        "of": ["harvest", "soil", "pests", "light"],
        "given": {"season": "summer"},
        "do": {"watering": "ample"},
    }
    answers = client.post(f"/api/results/{first}/ask", asked).json["answers"]
    for answer in answers:
        expected = kept.network.query(of=answer["of"], given=asked["given"], do=asked["do"])
        found = {one["levels"][0]: one["probability"] for one in answer["probabilities"]}
        assert found == pytest.approx(expected.probabilities)
    for wrong, said in (
        ({"of": ["zebra"]}, "zebra"),
        ({"of": ["soil"], "given": {"season": "wet"}}, "season"),
        ({"of": ["soil"], "given": {"soil": "dry"}}, "asked for and given"),
        ({"of": "soil"}, "of takes a list"),
        ({"of": ["soil"], "given": {"season": ["a"]}}, "level or a number"),
        ({"of": ["soil"], "zebra": 1}, "no 'zebra'"),
    ):
        answer = client.post(f"/api/results/{first}/ask", wrong)
        assert (answer.status, said in answer.error) == (400, True), answer.body


def test_a_class_of_graphs_has_no_probabilities(client: Client) -> None:
    number = client.learned(method="pc")
    shown = client.get(f"/api/results/{number}").json
    assert (shown["variables_asked"], "CPDAG" in shown["why_not_asked"]) == ([], True)
    assert "CPDAG" in client.post(f"/api/results/{number}/ask", {"of": ["soil"]}).error
