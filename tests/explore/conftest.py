"""A server of `dagora explore` on a real socket, and a client that says what it is told to."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dagora.data.writers import write_table
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network

MOST_UPLOAD = 50_000


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The one line of a refusal."""
        line = self.json["error"]
        assert "\n" not in line
        assert "Traceback" not in line
        return line


@dataclass
class Client:
    """Sends requests as a page would, with the token unless told otherwise."""

    server: Any
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return self.server.door.hosts[0]

    def ask(self, method: str, path: str, body: Any = None, *, token: bool = True, **headers: str) -> Answer:
        said = {"X-Dagora-Token": self.server.door.token} if token else {}
        said |= {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes) and not hasattr(body, "__next__"):
            body = json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.server.door.port, timeout=60)
        try:
            connection.request(method, path, body, said, encode_chunked=hasattr(body, "__next__"))
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, named, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self.ask("POST", path, {} if body is None else body, **headers)

    def upload(self, content: Any, name: str = "table.csv", query: str = "") -> Answer:
        return self.ask("POST", f"/api/table{query}", content, X_File_Name=name)

    def told(self) -> Iterator[dict[str, Any]]:
        """What is said of the run, by server-sent events, until it is over or nobody listens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.door.port, timeout=60)
        connection.request("GET", "/api/progress", headers={"X-Dagora-Token": self.server.door.token})
        try:
            answer = connection.getresponse()
            assert answer.headers["content-type"].startswith("text/event-stream")
            rest, limit = b"", time.monotonic() + 60
            while (more := answer.read1()) and time.monotonic() < limit:
                *parts, rest = (rest + more).split(b"\n\n")
                for part in parts:
                    yield json.loads(part.removeprefix(b"data: "))
        finally:
            connection.close()

    def finished(self) -> dict[str, Any]:
        """The last thing that is said of the run, with the whole trace."""
        messages = list(self.told())
        assert messages[-1]["over"]
        return {**messages[-1], "trace": [point for message in messages for point in message["trace"]]}

    def learned(self, **asked: Any) -> int:
        """Learn, and return the number of the result."""
        assert self.post("/api/learn", asked).status == 200
        state = self.finished()
        assert state["error"] == ""
        return state["result"]

    def wait_for_score(self) -> None:
        """Wait until a run has found something."""
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            run = self.get("/api/state").json["run"]
            if run and run["score"] is not None:
                return
            time.sleep(0.05)
        raise AssertionError("the run has found nothing")


@pytest.fixture(scope="session")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of a known network; skips where the server cannot be started."""
    pytest.importorskip("starlette", reason="needs Starlette: the extra 'app'")
    pytest.importorskip("uvicorn", reason="needs Uvicorn: the extra 'app'")
    file = tmp_path_factory.mktemp("garden") / "garden.csv"
    write_table(sample_network(greenhouse(), 400, seed=1), file)
    return file


@pytest.fixture(scope="session")
def client(garden: Path) -> Iterator[Client]:
    """A client of a server that has the table."""
    from dagora.explore.server import Server

    server = Server(most_upload=MOST_UPLOAD, reading={})
    thread = threading.Thread(target=server.run, args=(lambda _address: None,))
    try:
        server.open(garden)
        thread.start()
        yield Client(server)
    finally:
        server.stop()
        thread.join()
        server.close()
    assert not server.session.folder.exists()
