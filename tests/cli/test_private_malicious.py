"""`dagora private --security malicious`: the graph of the joined table, or one line and no file."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.cli.own_log import warn_of_failures
from dagora.data.table import Table
from dagora.parties.crypto.garbling.output_check import DIFFERENT
from dagora.parties.transport.certificates import fingerprint
from dagora.parties.vertical.dual_execution import MAY_BE_KNOWN
from dagora.parties.vertical.session_log import SessionLog
from tests.cli.test_private import listening
from tests.parties.pairs import deal_seeds
from tests.parties.vertical.cheaters import cheat, inverts_an_edge


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Two columns each about the same 60 rows, in other sequences."""
    rng = np.random.default_rng(4)
    data = rng.integers(0, 2, (60, 4))
    data[:, 2] = data[:, 0] ^ (rng.random(60) < 0.05)
    paths = tmp_path / "host.csv", tmp_path / "guest.csv"
    for path, columns in zip(paths, ("ab", "cd"), strict=True):
        places = ["abcd".index(name) for name in columns]
        rows = [f"k{row}," + ",".join(map(str, data[row, places])) for row in rng.permutation(60)]
        path.write_text("\n".join([f"ID,{','.join(columns)}", *rows]) + "\n")
    return paths


def central(files: tuple[Path, Path]) -> set[tuple[str, str]]:
    parts = [dagora.read_table(path, drop=["ID"]) for path in files]
    orders = [np.argsort([line.split(",")[0] for line in path.read_text().split()[1:]]) for path in files]
    codes = [part.codes(k)[order] for part, order in zip(parts, orders, strict=True) for k in range(2)]
    table = Table.from_numpy(np.stack(codes, axis=1), names=list("abcd"), discrete=list("abcd"))
    return set(dagora.learn(table, "k2", score="k2", order="a,b,c,d", max_parents=2).graph.edges)


def test_the_graph_of_the_joined_table(
    run: Callable, monkeypatch: pytest.MonkeyPatch, files: tuple[Path, Path]
) -> None:
    deal_seeds(monkeypatch)
    line = ("private", "simulate", *files, "--key", "ID", "--max-parents", 2, "--security", "malicious")
    ran = run(*line, "--in-memory", "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert {tuple(edge) for edge in result["edges"]} == central(files)
    assert ["a", "c"] in result["edges"]
    assert result["settings"]["security"] == "malicious"
    assert "crypto" not in result["settings"]
    assert "may have learned one bit more" in " ".join(result["settings"]["leakage"])


def test_a_guest_that_garbles_another_circuit(
    run: Callable,
    start: Callable,
    monkeypatch: pytest.MonkeyPatch,
    files: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The guest's command runs here and cheats; the host is another process, which nobody has touched."""
    run("private", "certificates", tmp_path / "run")
    for party, peer in (("host", "guest"), ("guest", "host")):
        shown = fingerprint((tmp_path / "run" / peer / "party.pem").read_bytes())
        killed = {"session": "killed", "security": "malicious", "certificate": shown, "own": []}
        SessionLog(tmp_path / "run" / party / "sessions.jsonl").append(killed)
    graph = tmp_path / "graph.json"
    host = start(
        "private", "host", "--data", files[0], "--certificates", tmp_path / "run" / "host", "--port", 0,
        "--key", "ID", "--max-parents", 2, "--security", "malicious", "-o", graph,
    )  # fmt: skip
    cheater = cheat(monkeypatch, "guest", inverts_an_edge)
    guest = run(
        "private", "join", "--data", files[1], "--certificates", tmp_path / "run" / "guest",
        "--key", "ID", "--security", "malicious", "--connect", listening(host),
    )  # fmt: skip
    out, err = host.communicate(timeout=120)
    assert cheater.altered == 1
    assert host.returncode == guest.code == 1
    told = [line for line in err.splitlines() if line.startswith("dagora: ")]
    assert told[-1].startswith("dagora: error: ")
    assert told[-1].endswith(DIFFERENT + MAY_BE_KNOWN)
    assert "Traceback" not in err
    assert not out
    assert not graph.exists()
    # Bytes and gates were stated before the terms were agreed, and the session counts.
    costs, agreed = (next(k for k, line in enumerate(told) if word in line) for word in ("gates", "agreed:"))
    assert costs < agreed
    assert told[agreed].endswith("mode hidden; security malicious")
    log = SessionLog(tmp_path / "run" / "host" / "sessions.jsonl")
    _, begun, ended = map(json.loads, log.path.read_text().splitlines())
    assert (begun["security"], ended["status"]) == ("malicious", "failed")
    assert "dagora: error: " + ended["reason"] == told[-1]
    # A run with this peer was killed before, of which both were warned; now there are two.
    warned = "dagora: warning: 1 session with this {} failed after garbling had begun"
    assert sum(line.startswith(warned.format("guest")) for line in told) == 1
    assert guest.err.count(warned.format("host")) == 1
    assert log.suspicious(begun["certificate"]) == 2
    log.append({"session": "killed", "status": "failed"})
    assert log.suspicious(begun["certificate"]) == 1
    # Another peer is another matter, and so is the other mode.
    warn_of_failures(log, "guest", "another", "malicious")
    warn_of_failures(log, "guest", begun["certificate"], "semi-honest")
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--mode", "adaptive"), "in hidden mode: leave out --mode"),
        (("--parameters", "open"), "in hidden mode: leave out --parameters"),
        (("--crypto", "rlwe"), "--security malicious encrypts no columns: leave out --crypto"),
        (("--min-rows", "61"), "at least 61 are needed"),
        ((), "the host has 60 keys and the guest 59"),
        (("third",), "are protected against semi-honest ones only: leave out --security"),
    ],
)
def test_bad_input_is_one_line(
    run: Callable, files: tuple[Path, Path], arguments: tuple[str, ...], line: str
) -> None:
    if not arguments:
        files[1].write_text("\n".join(files[1].read_text().split()[:-1]) + "\n")
    if arguments == ("third",):
        arguments = (str(files[1]),)
    ran = run(
        "private", "simulate", *files, *arguments, "--key", "ID", "--security", "malicious", "--in-memory",
        "--quiet",
    )  # fmt: skip
    assert ran.code == 2
    assert line in ran.err
    assert ran.err.startswith("dagora: error: ")
    assert ran.err.count("\n") == 1
    assert not ran.out
