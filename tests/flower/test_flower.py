"""dagora as a Flower app: a real SuperLink and three SuperNodes, with TLS and authenticated nodes."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import dagora
from dagora.parties.horizontal.log.site_log import FILE_NAME

pytest.importorskip(
    "flwr", reason="needs Flower: `make test-flower` installs it in an environment of its own"
)

from tests.flower.consortium import SITES, FlowerConsortium, give_rows_to_sites

pytestmark = pytest.mark.flower

# Each costs seconds. One finds the sites, one has the plan signed, one brings the roster with the only question,
# one says goodbye; a node that was not ready costs another.
MOST_EXCHANGES = 5


@pytest.fixture(scope="module")
def consortium(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlowerConsortium]:
    folder = tmp_path_factory.mktemp("flower")
    files = give_rows_to_sites(table, folder)
    with FlowerConsortium(folder / "run") as consortium:
        consortium.add_sites(files, folder / "keys")
        yield consortium
    assert not consortium.running()


@pytest.fixture(scope="module")
def app(consortium: FlowerConsortium) -> Path:
    folder = consortium.folder / "app"
    consortium.command(*consortium.app_line(folder), "-o", consortium.folder / "network.json")
    return folder


def read_log(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / FILE_NAME).read_text().splitlines()]


def test_the_network_of_the_pooled_rows(consortium: FlowerConsortium, app: Path, table: Path) -> None:
    """Daemons that serve runs, one method after the other; each run is one sum, as every site's log says."""
    methods = ("notears", "ges", "ilp")
    consortium.start_daemons("--runs", len(methods))
    output = consortium.folder / "network.json"
    for method in methods:
        run = consortium.start_run(app, f'method="{method}"')
        state = consortium.finish(run)
        said = consortium.log_of(run)
        assert state["status"] == "finished:completed", said
        learned = dagora.Result.from_json(output.read_text())
        assert learned.graph == dagora.learn(table, method).graph, said
        assert f"{method}: " in said
        count, seconds = re.search(r"(\d+) exchanges .* ([\d.]+) s each", said).groups()
        assert int(count) <= MOST_EXCHANGES
        print(f"{method}: {count} exchanges, {seconds} s each")
        output.unlink()
    for site in SITES:
        assert consortium.code(site) == 0
        assert consortium.said(site).count("dagora: answered") == len(methods)
        log = read_log(consortium.keys / site)
        assert [event["event"] for event in log] == ["plan", "answer", "end"] * len(methods)
        assert {event["asks"] for event in log if event["event"] == "answer"} == {"moments"}
        assert not (consortium.folder / f"{site}.sock").exists()


def test_a_node_is_killed(consortium: FlowerConsortium, app: Path) -> None:
    """One line for the coordinator, the same for the sites that are left, and one for the site of the node."""
    consortium.start_daemons("--idle", 60)
    run = consortium.start_run(app, 'method="notears" patience=20')
    node = "west-node"
    seen = len(consortium.said(node))
    deadline = time.monotonic() + 120
    while consortium.said(node)[seen:].count("Sent successfully") < 2:
        assert time.monotonic() < deadline, consortium.said(node)
        time.sleep(0.05)
    os.killpg(consortium.processes[node].pid, signal.SIGKILL)
    state = consortium.finish(run)
    said = consortium.log_of(run)
    assert state["status"] == "finished:failed"
    lines = [line for line in said.splitlines() if line.startswith("dagora: error: ")]
    assert len(lines) == 1, said
    line = lines[0].removeprefix("dagora: error: ")
    assert "the connection to party 'west' was lost" in line
    assert state["status-details"].endswith(line)
    assert "File " not in said, "no way through the code"
    for site in SITES:
        assert consortium.code(site) == 1
        ended = [line for line in consortium.said(site).splitlines() if line.startswith("dagora: error: ")]
        assert len(ended) == 1
        why = (
            "the connection to party 'coordinator' was lost"
            if site == "west"
            else f"party 'coordinator' ended the run: {line}"
        )
        assert why in ended[0]
        assert "Traceback" not in consortium.said(site)
    assert not (consortium.folder / "network.json").exists()
