"""`dagora private group` and `simulate` with three files: processes over TLS, and whatever is wrong is one line."""

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.data.table import Table
from tests.cli.test_private import listening

NAMES = ("clinic", "lab", "registry", "school")


@pytest.fixture(scope="module")
def joined() -> Table:
    rng = np.random.default_rng(4)
    data = rng.integers(0, 2, (120, 5))
    data[:, 3] = data[:, 0] ^ (rng.random(120) < 0.05)
    data[:, 4] = (data[:, 1] & data[:, 3]) ^ (rng.random(120) < 0.05)
    return Table.from_numpy(data, names=list("abcde"), discrete=list("abcde"))


@pytest.fixture(scope="module")
def files(joined: Table, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four files with the same rows in sequences of their own."""
    folder = tmp_path_factory.mktemp("group")
    made = []
    for number, columns in enumerate(("ab", "c", "d", "e")):
        part = joined.select(list(columns))
        sequence = np.random.default_rng(number).permutation(part.n_rows)
        lines = [",".join([f"k{row}", *(str(part.codes(k)[row]) for k in range(len(columns)))]) for row in sequence]  # fmt: skip
        made.append(folder / f"{columns}.csv")
        made[-1].write_text("\n".join([",".join(["ID", *columns]), *lines]) + "\n")
    return made


def central(joined: Table, order: str) -> set[tuple[str, str]]:
    return set(dagora.learn(joined, "k2", score="k2", order=order, max_parents=2).graph.edges)


def test_processes_over_tls(run: Callable, joined: Table, files: list[Path], tmp_path: Path) -> None:
    order = "e,d,c,b,a"
    line = ("private", "simulate", *files, "--key", "ID", "--max-parents", 2, "--order", order)
    ran = run(*line, "--json", "-o", tmp_path / "graph.json", "--min-rows", 100)
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert {tuple(edge) for edge in result["edges"]} == central(joined, order)
    assert len(result["edges"]) >= 3
    assert result["stats"]["rows"] == 120
    assert result["settings"]["computing"] == ["owner-1", "owner-2", "owner-3"]
    assert "Any two of owner-1, owner-2 and owner-3 together can see" in " ".join(
        result["settings"]["leakage"]
    )
    assert "agreed: order e, d, c, b, a; at most 2 parents; score f; at least 100 rows" in ran.err
    assert dagora.read_graph(tmp_path / "graph.json").nodes == tuple("abcde")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--mode", "adaptive"), "three and more owners compute on shares in hidden mode"),
        (("--order", "a,b,c,d"), "option 'order' must name every variable once: 'e' is missing"),
        (("--min-rows", 121), "the owners have 120 rows, fewer than the 121 that were asked for"),
        (("--max-parents", 9), "option 'max_parents' must be from 1 to 6, not 9"),
    ],
)
def test_bad_input_is_one_line(
    run: Callable, files: list[Path], arguments: tuple[object, ...], line: str
) -> None:
    ran = run("private", "simulate", *files, "--key", "ID", "--in-memory", "--quiet", *arguments)
    assert ran.code == 2
    assert line in ran.err
    assert ran.err.count("\n") == 1


def test_the_same_column_at_two_owners(run: Callable, files: list[Path]) -> None:
    ran = run("private", "simulate", *files[:2], files[1], "--key", "ID", "--quiet")
    assert ran.code == 2
    assert "'owner-2' and 'owner-3' both have a column 'c'" in ran.err


def terminals(start: Callable, files: list[Path], folder: Path) -> list[subprocess.Popen[str]]:
    """One process per owner, the host first."""
    common = ("--key", "ID", "--quiet", "--owners", ",".join(NAMES[: len(files)]))
    host = start(
        "private", "group", "host", "--data", files[0], "--certificates", folder / NAMES[0], "--port", 0,
        *common,
    )  # fmt: skip
    where = listening(host)
    return [host] + [
        start(
            "private", "group", "join", "--data", file, "--certificates", folder / name, "--connect", where,
            *common,
        )
        for name, file in zip(NAMES[1:], files[1:], strict=False)
    ]  # fmt: skip


@pytest.mark.slow  # docs/privacy.md has three terminals too, as threads
def test_three_terminals_keep_logs_and_the_second_session_is_one_too_many(
    run: Callable, start: Callable, files: list[Path], tmp_path: Path
) -> None:
    made = run("private", "group", "certificates", tmp_path / "run", *NAMES[:3])
    assert made.out.split() == [str(tmp_path / "run" / name) for name in NAMES[:3]]
    for process in terminals(start, files[:3], tmp_path / "run"):
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert out.splitlines()[-1] == "  a → d"
    log = (tmp_path / "run" / "lab" / "sessions.jsonl").read_text().splitlines()
    assert [json.loads(line).get("status") for line in log] == [None, "finished"]
    again = run(
        "private", "group", "join", "--data", files[1], "--certificates", tmp_path / "run" / "lab", "--key",
        "ID", "--connect", "127.0.0.1:1", "--max-sessions", 1, "--owners", ",".join(NAMES[:3]),
    )  # fmt: skip
    assert again.code == 2
    assert "a column of these data was in 1 session already" in again.err


def test_a_third_owner_who_leaves_mid_run_ends_all(
    run: Callable, start: Callable, files: list[Path], tmp_path: Path
) -> None:
    run("private", "group", "certificates", tmp_path / "run", *NAMES[:3])
    processes = terminals(start, files[:3], tmp_path / "run")
    log = tmp_path / "run" / "registry" / "sessions.jsonl"
    deadline = time.monotonic() + 60
    while not log.exists():  # the terms are agreed, and the run is under way
        assert time.monotonic() < deadline
        time.sleep(0.001)
    processes[2].kill()
    for name, process in zip(NAMES, processes, strict=False):
        _, err = process.communicate(timeout=60)
        if name == "registry":
            assert process.returncode == -9
        else:
            assert process.returncode == 1, err
            last = err.splitlines()[-1]
            assert last.startswith("dagora: error: ")
            assert "registry" in last or "ended the run" in last
            assert "Traceback" not in err


def test_who_hosts_names_the_owners(run: Callable, files: list[Path], tmp_path: Path) -> None:
    run("private", "group", "certificates", tmp_path / "run", *NAMES[:3])
    line = ("private", "group", "host", "--data", files[0], "--key", "ID", "--certificates", tmp_path / "run" / "lab")  # fmt: skip
    for owners, said in (
        (("--owners", "clinic,lab,registry"), "--owners must begin with 'lab', whose certificates these are"),
        (("--owners", "lab,clinic"), "option 'owners' must name 3 to 32 owners, each once"),
        ((), "--owners must name all owners"),
    ):
        ran = run(*line, *owners)
        assert ran.code == 2
        assert said in ran.err
        assert ran.err.count("\n") == 1
