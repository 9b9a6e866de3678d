"""A check on the page: the same findings as `dagora.check`, and one line where there are none."""

import pytest

import dagora
from dagora.report.checked import check_lead, check_sections
from tests.explore.conftest import Client

KEPT = ("season", "light", "soil", "growth", "harvest")


@pytest.fixture(scope="module")
def number(client: Client, garden) -> int:
    names = dagora.read_table(garden).names
    reading = {"drop": [name for name in names if name not in KEPT]}
    return client.learned(method="tabu", reading=reading)


@pytest.mark.full
def test_the_check_is_that_of_the_library(client: Client, garden, number: int) -> None:
    answer = client.post(f"/api/results/{number}/check", {})
    assert answer.status == 200, answer.body
    graph = dagora.Result.from_json(client.server.session.results[number].text).graph
    found = dagora.check(graph, dagora.read_table(garden).select(KEPT))
    assert answer.json["lead"] == check_lead(found)
    assert answer.json["parts"] == [{"title": one.heading, "body": one.body} for one in check_sections(found)]
    assert answer.json["command"].startswith(f"dagora check result-{number}.json ")


@pytest.mark.full
def test_bad_requests_get_one_line(client: Client, number: int) -> None:
    assert client.post("/api/results/999/check", {}).status == 400
    assert client.get(f"/api/results/{number}/check").status == 405
    answer = client.post(f"/api/results/{number}/check", {"permutations": 10**9})
    assert (answer.status, "has no 'permutations'" in answer.error) == (400, True)
