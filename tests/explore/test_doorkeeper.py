"""Who is let in: on every path the token is needed, and neither another name nor another page helps."""

import pytest

from dagora.explore.doorkeeper import Door, equal
from dagora.explore.page_files import OWN, SHARED
from tests.explore.conftest import Client

PATHS = [
    ("GET", "/"),
    *(("GET", f"/static/{name}") for name in (*OWN, *SHARED)),
    ("GET", "/api/state"),
    ("POST", "/api/table"),
    ("POST", "/api/look"),
    ("POST", "/api/knowledge"),
    ("POST", "/api/estimate"),
    ("POST", "/api/learn"),
    ("POST", "/api/stop"),
    ("GET", "/api/progress"),
    ("GET", "/api/results/1"),
    ("DELETE", "/api/results/1"),
    ("POST", "/api/results/1/ask"),
    ("POST", "/api/results/1/effect"),
    ("POST", "/api/results/1/check"),
    ("GET", "/api/results/1/result.json"),
    ("GET", "/api/results/1/report.html"),
    ("GET", "/api/compare/1/2"),
    ("GET", "/nothing"),
    ("OPTIONS", "/api/learn"),
]


def test_all_paths_are_listed_here() -> None:
    """So that a new one is tried too."""
    pytest.importorskip("starlette", reason="needs Starlette: the extra 'app'")
    from dagora.explore.routes import application
    from dagora.explore.session import Session

    session = Session()
    try:
        routes = application(session, Door(1, "t"), 1)._application.routes
    finally:
        session.close()
    known = {(method, path.replace("/1", "/{n}").replace("/2", "/{n}")) for method, path in PATHS}
    for route in routes:
        path = route.path
        for name in ("{number:count}", "{first:count}", "{second:count}"):
            path = path.replace(name, "{n}")
        path = path.replace("{name}", "app.js")
        assert {(method, path) for method in route.methods - {"HEAD"}} <= known, route.path


@pytest.mark.full
def test_without_the_token_nothing_is_answered(client: Client) -> None:
    wrong = client.server.door.token[:-1] + "~"
    for method, path in PATHS:
        plain = client.ask(method, path, token=False)
        assert (path, plain.status) == (path, 403)
        assert plain.body.count(b"\n") == 1
        assert client.ask(method, path, token=False, X_Dagora_Token=wrong).status == 403
        assert client.ask(method, f"{path}?token={wrong}", token=False).status == 403
    assert client.get("/api/state").status == 200


def test_the_address_opens_the_page_and_the_cookie_its_files_but_no_data(client: Client) -> None:
    door = client.server.door
    page = client.ask("GET", door.address.partition(door.hosts[0])[2], token=False)
    assert page.status == 200
    assert b"<!DOCTYPE html>" in page.body
    given = page.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict"} <= {part.strip() for part in given.split(";")}
    cookie = given.partition(";")[0]
    assert door.token not in given, "other servers on this host are sent the cookie, too"
    for name in (*OWN, *SHARED):
        answer = client.ask("GET", f"/static/{name}", token=False, Cookie=cookie)
        assert (name, answer.status) == (name, 200)
    assert client.ask("GET", "/api/state", token=False, Cookie=cookie).status == 403
    assert client.ask("POST", "/api/learn", token=False, Cookie=cookie).status == 403
    assert client.ask("GET", f"/api/state?token={door.token}", token=False).status == 403, "only as a header"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", ""]
)
def test_another_host_is_refused(client: Client, host: str) -> None:
    answer = client.get("/api/state", Host=host.format(port=client.server.door.port))
    assert answer.status in {400, 403}


def test_localhost_is_this_host(client: Client) -> None:
    assert client.get("/api/state", Host=f"localhost:{client.server.door.port}").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "none"},
    ],
)
def test_another_page_changes_nothing(client: Client, headers: dict[str, str]) -> None:
    refused = client.post("/api/knowledge", {}, **headers)
    assert refused.status == 403
    assert b"other pages" in refused.body
    own = {"Origin": f"http://{client.host}", "Sec_Fetch_Site": "same-origin"}
    assert client.post("/api/knowledge", {}, **own).status == 200


def test_another_page_reads_nothing(client: Client) -> None:
    assert client.get("/api/state", Sec_Fetch_Site="cross-site").status == 403
    assert client.get("/static/app.js", Sec_Fetch_Site="same-site").status == 403
    address = f"/?token={client.server.door.token}"
    followed = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert client.ask("GET", address, token=False, **followed).status == 200, (
        "the address may stand on a page"
    )
    assert client.ask("GET", address, token=False, Sec_Fetch_Site="cross-site").status == 403


def test_answers_are_protected(client: Client) -> None:
    for answer in (
        client.get("/api/state"),
        client.get("/"),
        client.get("/api/state", Host="x"),
        client.get("/nothing"),
    ):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_header_that_is_given_twice_is_not_believed() -> None:
    door = Door(80, "secret")
    right = [("host", "127.0.0.1:80"), ("x-dagora-token", "secret")]
    assert door.reason_to_refuse("GET", "/api/state", "", right) == ""
    for pair in right:
        assert door.reason_to_refuse("GET", "/api/state", "", [*right, pair])


def test_odd_secrets_are_only_wrong() -> None:
    assert not equal("\udcff", "secret")
    assert not equal("sécret", "secret")
    assert not equal(None, "secret")
    assert not equal("", "secret")


def test_only_loopback_listens(client: Client) -> None:
    assert client.server._socket.getsockname()[0] == "127.0.0.1"
