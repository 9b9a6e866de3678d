"""Effects on the page: the same answer as `dagora.effect`, bounded in time, and one line for bad questions."""

import json
import time
from concurrent.futures import Future

import pytest

import dagora
from dagora.explore import routes
from dagora.explore.effect_question import parse_effect
from dagora.report.effect_sections import effect_lead, effect_sections
from tests.explore.conftest import Client
from tests.report.reading import read

KEPT = ("season", "light", "soil", "growth", "harvest")


@pytest.fixture(scope="module")
def number(client: Client, garden) -> int:
    names = dagora.read_table(garden).names
    reading = {"drop": [name for name in names if name not in KEPT]}
    return client.learned(method="tabu", reading=reading)


def asked(**changes):
    return {"cause": "light", "outcome": "growth", "levels": ["low", "high"], "event": "fast", **changes}


def levels_of(client, number, name):
    entry = client.get(f"/api/results/{number}").json["effects"]
    return next(one["levels"] for one in entry["variables"] if one["name"] == name)


@pytest.mark.full
@pytest.mark.parametrize("averaged", [False, True])
def test_the_answer_is_that_of_the_library(client: Client, garden, number: int, averaged: bool) -> None:
    light, growth = (levels_of(client, number, name) for name in ("light", "growth"))
    question = asked(levels=[light[1], light[0]], event=growth[-1], averaged=averaged)
    answer = client.post(f"/api/results/{number}/effect", question)
    assert answer.status == 200, answer.body
    by = {} if averaged else {"graph": dagora.Result.from_json(client.server.session.results[number].text)}
    table = dagora.read_table(garden).select(KEPT)
    found = dagora.effect(table, "light", "growth", levels=question["levels"], event=growth[-1], **by)
    assert answer.json["lead"] == effect_lead(found)
    assert answer.json["parts"] == [
        {"title": part.heading, "body": part.body} for part in effect_sections(found)
    ]
    assert ("--graph" in answer.json["command"]) is not averaged
    drawn = read("".join(part["body"] for part in answer.json["parts"]))
    assert not [tags for _, tags in drawn.tags if "style" in tags or "onclick" in tags], (
        "the policy of the page"
    )


@pytest.mark.full
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cause": "zebra"}, "there is no variable named 'zebra'"),
        ({"cause": "z" * 500_000}, "there is no variable named 'zzz"),
        ({"cause": "growth"}, "'growth' cannot be both set and the outcome"),
        ({"cause": None}, "cause takes the name of a variable"),
        ({"outcome": ["growth"]}, "outcome takes the name of a variable"),
        ({"levels": ["a"]}, "levels takes two values"),
        ({"levels": [True, False]}, "levels takes two values"),
        ({"levels": {"a": 1}}, "levels takes two values"),
        ({"event": 3}, "event takes a level"),
        ({"averaged": 1}, "averaged is true or false"),
        ({"graph": "/etc/passwd"}, "a question about an effect has no 'graph'"),
        ({"levels": ["zebra", "low"]}, "'light' has no level 'zebra'"),
        ({"levels": [1e308, -1e308]}, "'light' has no level"),
        ({"levels": ["low", "low"]}, "is compared with itself"),
        ({"event": "<b>"}, "'growth' has no level '<b>'"),
    ],
)
def test_bad_questions_get_one_line(client: Client, number: int, changes: dict, words: str) -> None:
    if changes.get("levels") == ["low", "low"]:
        changes = {"levels": [levels_of(client, number, "light")[0]] * 2}
    if "event" not in changes:
        changes = {**changes, "event": levels_of(client, number, "growth")[0]}
    if "levels" not in changes:
        changes = {**changes, "levels": levels_of(client, number, "light")[:2]}
    answer = client.post(f"/api/results/{number}/effect", asked(**changes))
    assert (answer.status, words in answer.error) == (400, True), answer.body[:500]
    assert len(answer.body) < 2000
    assert "\n" not in answer.error


@pytest.mark.full
def test_no_result_and_another_table(client: Client, garden, number: int) -> None:
    assert client.post("/api/results/999/effect", asked()).status == 400
    assert client.get(f"/api/results/{number}/effect").status == 405
    client.upload(garden.read_bytes())
    assert "not open any more" in client.post(f"/api/results/{number}/effect", asked()).error
    client.server.session.open(garden)


@pytest.mark.full
def test_what_takes_too_long_is_ended(client: Client, number: int, monkeypatch) -> None:
    light, growth = (levels_of(client, number, name) for name in ("light", "growth"))
    question = asked(levels=light[:2], event=growth[0], averaged=True)
    monkeypatch.setattr(routes, "ANSWER_SECONDS", 0.01)
    began = time.monotonic()
    answer = client.post(f"/api/results/{number}/effect", question)
    assert (answer.status, "takes longer than" in answer.error) == (400, True)
    assert time.monotonic() - began < 10
    monkeypatch.undo()
    assert client.post(f"/api/results/{number}/effect", {**question, "averaged": False}).status == 200


@pytest.mark.full
def test_one_at_a_time(client: Client, number: int) -> None:
    session = client.server.session
    _, answer = session._answers.ask()
    assert isinstance(answer, Future)
    assert client.post(f"/api/results/{number}/effect", asked()).status == 409
    assert client.post("/api/learn", {"method": "tabu"}).status == 409
    session._answers.give_up({"error": "enough"})
    assert answer.result() == {"error": "enough"}


@pytest.mark.full
def test_missing_cells_are_named_before_one_asks(client: Client, garden) -> None:
    holed = garden.read_text().splitlines()
    holed[1] = "," + holed[1].partition(",")[2]
    client.upload("\n".join(holed).encode() + b"\n")
    found = client.get(f"/api/results/{client.learned(method='hill-climb')}").json["effects"]
    assert found["variables"] == []
    assert "“missing values: drop their rows”" in found["why_not"]
    client.server.session.open(garden)


def test_a_question_survives_its_message() -> None:
    question = parse_effect({"cause": "a", "outcome": "b", "levels": [1, 0.5], "averaged": True}, "ab")
    sent = json.loads(json.dumps(question.to_dict()))
    assert type(question).from_dict(sent) == question
