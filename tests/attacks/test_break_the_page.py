"""Somebody who can send requests to `dagora explore` wants it to fail, to hang or to show what it should not."""

import json

import pytest

from tests.attacks.fuzz import damage, tries
from tests.explore.conftest import client, garden

__all__ = ["client", "garden"]

PATHS = [
    "/", "/page.js", "/api/state", "/api/table", "/api/learn", "/api/stop", "/api/result/1", "/api/query",
    "/api/report/1", "/api/estimate", "/api/results/1/effect", "/api/progress/../state",
    "//api/state", "/api/%2e%2e/state", "/api/☃",
]  # fmt: skip
BODIES = [
    {"method": "hill-climb", "seed": 1, "options": {"restarts": 1}},
    {"knowledge": {"required": [["a", "b"]]}, "columns": ["a"], "time_limit": 0.1},
    {"question": "P(a | b=1)", "result": 1},
    {"cause": "season", "outcome": "soil", "levels": ["a", "b"], "event": "a", "averaged": True},
]
ODD = [None, True, -1, 1e308, 2**70, "", "a" * 300, "<script>", "../../etc/passwd", [], {}, [[["x"]]]]


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
