"""Somebody who can send requests to `dagora explore` wants it to fail, to hang or to show what it should not."""

import json

import numpy as np
import pytest

from tests.attacks.fuzz import damage, tries
from tests.explore.conftest import client, garden

__all__ = ["client", "garden"]

PATHS = [
    "/", "/static/app.js", "/api/state", "/api/table", "/api/learn", "/api/stop", "/api/look", "/api/knowledge",
    "/api/estimate", "/api/results/1", "/api/results/1/ask", "/api/results/1/effect", "/api/compare/1/1",
    "/api/results/1/report.html", "/api/progress/../state", "//api/state", "/api/%2e%2e/state", "/api/☃",
]  # fmt: skip
BODIES = [
    {"method": "hill-climb", "seed": 1, "options": {"restarts": 1}},
    {"knowledge": {"required": [["a", "b"]]}, "columns": ["a"], "time_limit": 0.1},
    {"of": ["soil"], "given": {"light": "low"}, "do": {"season": "dry"}},
    {"cause": "season", "outcome": "soil", "levels": ["a", "b"], "event": "a", "averaged": True},
]
ODD = [
    None,
    True,
    -1,
    1e308,
    2**70,
    10**400,
    float("nan"),
    float("-inf"),
    "",
    "a" * 300,
    "x",
    "c",
    "<script>",
    "../../etc/passwd",
    [],
    {},
    [[["x"]]],
]


def odd_body(draw):
    body = dict(draw.choice(BODIES))
    for name in draw.sample(sorted(body), draw.randint(0, len(body))):
        body[name] = draw.choice(ODD)
    written = json.dumps(body).encode()
    return damage(written, draw) if draw.random() < 0.3 else written


@pytest.mark.fuzz
@pytest.mark.full
def test_odd_requests(client):
    for draw in tries(0.3):
        path = draw.choice(PATHS)
        if draw.random() < 0.3:
            path = "/" + damage(path.encode()[1:] or b"a", draw).decode("latin-1")
        path = "".join(letter if "!" < letter < "\x7f" else f"%{ord(letter) % 256:02x}" for letter in path)
        method = draw.choice(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
        if (method, path) == ("GET", "/api/progress"):
            continue
        token = draw.random() < 0.8
        answer = client.ask(method, path, odd_body(draw) if method == "POST" else None, token=token)
        assert answer.status < 500, (method, path, answer)
        assert b"Traceback" not in answer.body
        assert token or answer.status >= 400, (method, path)
    assert client.get("/api/state").status == 200


@pytest.fixture
def measured(client, garden):
    """The number of a result from a table with columns of both kinds."""
    pairs = np.random.default_rng(1).normal(size=(200, 2)).tolist()
    rows = [f"{a:.3f},{a + b:.3f},{'yes' if a > b else 'no'}" for a, b in pairs]
    assert client.upload("\n".join(["x,y,c", *rows]).encode()).status == 200
    yield client.learned(method="tabu")
    client.server.session.open(garden)


QUESTIONS = {
    "ask": [
        {"of": ["y"], "given": {"x": 0.5}, "do": {"c": "yes"}},
        {"of": ["c", "x"], "given": {}, "do": {}},
    ],
    "effect": [
        {"cause": "x", "outcome": "y", "levels": [0.5, 1.5]},
        {"cause": "c", "outcome": "y", "levels": ["yes", "no"]},
        {"cause": "x", "outcome": "c", "event": "yes", "averaged": False},
    ],
}


@pytest.mark.fuzz
@pytest.mark.full
def test_odd_questions_about_a_result(client, measured):
    """Names, values and levels of other kinds, sizes and numbers, one or two at a time."""
    for draw in tries(0.2):
        kind = draw.choice(sorted(QUESTIONS))
        content = json.loads(json.dumps(draw.choice(QUESTIONS[kind])))
        for _ in range(draw.choice([0, 1, 1, 2])):
            inside = draw.choice(
                [content, *(one for one in content.values() if isinstance(one, list | dict))]
            )
            keys = sorted(inside) if isinstance(inside, dict) else range(len(inside))
            if keys:
                inside[draw.choice([*keys])] = draw.choice(ODD)
        answer = client.post(f"/api/results/{measured}/{kind}", content)
        assert answer.status in (200, 400), (content, answer)
        assert answer.status == 200 or (len(answer.error) < 1000 and "fault of dagora" not in answer.error), (
            content
        )
    assert client.get("/api/state").status == 200
