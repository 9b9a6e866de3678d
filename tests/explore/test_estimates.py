"""Estimates of the time on the live page: made by the process that learns, and given up for a run."""

import threading
import time
from io import StringIO

import pytest

from dagora.explore.worker import Ear
from tests.explore.conftest import Client
from tests.explore.test_runs import ENDLESS


def asked(client: Client, **content: object) -> str:
    answer = client.post("/api/estimate", content)
    assert answer.status == 200
    return answer.json["words"]


def test_about_how_long_a_run_takes(client: Client) -> None:
    words = asked(client, method="hill-climb")
    assert words.startswith("about ")
    assert words.endswith("measured on 400 rows and all 11 columns of this table")
    assert "all 9 columns" in asked(client, method="hill-climb", reading={"drop": ["season", "cloud"]})
    limited = asked(client, method="hill-climb", bootstrap=10**6, time_limit=5)
    assert limited.endswith("; it ends after 5 s at the latest")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"method": "tabbu"}, "no method named 'tabbu'"),
        ({"method": "tabu", "options": {"patience": "-3"}}, "must be at least"),
        ({"method": "tabu", "knowledge": {"required": [["raim", "soil"]]}}, "raim"),
        ({"method": "lingam"}, "needs continuous columns"),
    ],
)
def test_what_is_wrong_is_the_reason_for_none(client: Client, content: dict, reason: str) -> None:
    words = asked(client, **content)
    assert words.startswith("no estimate: ")
    assert reason in words


def test_a_run_comes_first(client: Client) -> None:
    words = []
    waiting = threading.Thread(target=lambda: words.append(asked(client, method="astar")))
    waiting.start()
    time.sleep(0.05)
    assert client.post("/api/learn", ENDLESS).status == 200
    waiting.join(10)
    assert words == [""], "it was given up"
    assert asked(client, method="tabu") == "", "nothing is measured while a method runs"
    client.wait_for_score()
    assert client.post("/api/stop", {}).status == 200
    state = client.finished()
    assert state["error"] == ""
    assert client.ask("DELETE", f"/api/results/{state['result']}").status == 200
    assert asked(client, method="hill-climb").startswith("about "), "after it, again"


def test_an_estimate_gives_way_to_whatever_comes_after_it() -> None:
    ear = Ear(StringIO())
    ear._give_way(1)
    first = ear.begin_estimate(1)
    assert not first.exhausted
    ear._give_way(2)
    assert first.exhausted
    assert ear.begin_estimate(1) is None
    second = ear.begin_estimate(2)
    ear._give_way(0)  # a run
    assert second.exhausted
    assert ear.begin_estimate(2) is None
