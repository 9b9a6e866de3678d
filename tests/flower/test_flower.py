"""dagora as a Flower app: a real SuperLink and three SuperNodes, with TLS and authenticated nodes."""

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import dagora
from dagora.data.partition import split_rows
from dagora.data.writers import write_table
from dagora.parties.transport.certificates import make_certificates

pytest.importorskip(
    "flwr", reason="needs Flower: `make test-flower` installs it in an environment of its own"
)

from tests.flower.consortium import BIN, FlowerConsortium

pytestmark = pytest.mark.flower

SITES = ("north", "south", "west")
MOST_EXCHANGES = 14  # each costs seconds: a run may not become more talkative


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rows") / "all.csv"
    write_table(dagora.simulate(dagora.random_dag("er", 6, 1.5, seed=4), "gaussian", 600, seed=4).table, file)
    return file


@pytest.fixture(scope="module")
def consortium(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlowerConsortium]:
    folder = tmp_path_factory.mktemp("flower")
    make_certificates(folder / "keys", ["coordinator", *SITES])
    files = {site: folder / f"{site}.csv" for site in SITES}
    for part, file in zip(split_rows(dagora.read_table(table), 3, seed=1), files.values(), strict=True):
        write_table(part, file)
    with FlowerConsortium(folder / "run") as consortium:
        consortium.add_sites(files, folder / "keys")
        yield consortium
    assert not consortium.running()


@pytest.fixture(scope="module")
def app(consortium: FlowerConsortium) -> Path:
    folder = consortium.folder / "app"
    line = (
        "dagora",
        "federate",
        "flower-app",
        folder,
        "--sites",
        ",".join(SITES),
        "--wait",
        120,
        "--patience",
        120,
    )
    consortium.command(BIN / "python", "-m", *line, "-o", consortium.folder / "network.json")
    return folder


def test_the_network_of_the_pooled_rows(consortium: FlowerConsortium, app: Path, table: Path) -> None:
    """Daemons that serve two runs, one method after the other."""
    consortium.start_daemons("--runs", 2)
    output = consortium.folder / "network.json"
    for method in ("notears", "ges"):
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
        assert consortium.said(site).count("dagora: answered") == 2
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
