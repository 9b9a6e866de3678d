"""`dagora private`: two processes learn the network of the joined table, and whatever is wrong is one line."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.data.table import Table


@pytest.fixture(scope="module")
def joined() -> Table:
    rng = np.random.default_rng(1)
    data = rng.integers(0, 2, (150, 5))
    data[:, 3] = data[:, 0] ^ (rng.random(150) < 0.05)
    data[:, 4] = (data[:, 1] & data[:, 3]) ^ (rng.random(150) < 0.05)
    return Table.from_numpy(data, names=list("abcde"), discrete=list("abcde"))


@pytest.fixture(scope="module")
def files(joined: Table, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two files with common rows in sequences of their own, and rows that the other does not have."""
    folder = tmp_path_factory.mktemp("private")
    rng = np.random.default_rng(2)
    made = []
    for name, columns in (("host", "abc"), ("guest", "de")):
        part = joined.select(list(columns))
        lines = [
            ",".join([f"k{row}", *(str(part.codes(k)[row]) for k in range(len(columns)))])
            for row in range(part.n_rows)
        ]
        lines += [",".join([f"{name}{row}", *"01010"[: len(columns)]]) for row in range(7)]
        rng.shuffle(lines)
        made.append(folder / f"{name}.csv")
        made[-1].write_text("\n".join([",".join(["ID", *columns]), *lines]) + "\n")
    return made[0], made[1]


def central(joined: Table, order: str) -> set[tuple[str, str]]:
    return set(dagora.learn(joined, "k2", score="k2", order=order, max_parents=2).graph.edges)


def test_two_processes_over_tls(
    run: Callable, joined: Table, files: tuple[Path, Path], tmp_path: Path
) -> None:
    order = "e,d,c,b,a"
    line = ("private", "simulate", *files, "--key", "ID", "--max-parents", 2, "--order", order)
    ran = run(*line, "--json", "-o", tmp_path / "graph.json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert {tuple(edge) for edge in result["edges"]} == central(joined, order)
    assert len(result["edges"]) >= 3
    assert result["stats"]["rows"] == 150
    assert result["stats"]["bytes_to_guest"] > result["stats"]["bytes_from_guest"] > 0
    assert len(result["settings"]["leakage"]) == 4
    assert dagora.read_graph(tmp_path / "graph.json").nodes == tuple("abcde")
    assert "agreed: order e, d, c, b, a; at most 2 parents; score f; mode hidden" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("mode", ["hidden", "adaptive"])
def test_in_memory(run: Callable, joined: Table, files: tuple[Path, Path], mode: str) -> None:
    line = ("private", "simulate", *files, "--key", "ID", "--max-parents", 2, "--mode", mode, "--in-memory")
    ran = run(*line)
    assert ran.code == 0, ran.err
    found = {tuple(part.strip() for part in row.split("→")) for row in ran.out.splitlines() if "→" in row}
    assert found == central(joined, "a,b,c,d,e")
    assert "Both parties learned" in ran.out
    if mode == "hidden":
        assert run(*line, "--quiet").out.count("learned") == 0


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--key", "nr"), "there is no column 'nr' for the key: the columns are ID, a, b, c"),
        (("--key", "ID", "--max-parents", 9), "option 'max_parents' must be from 1 to 6, not 9"),
        (("--key", "ID", "-o", "/nowhere/graph.json"), "there is no folder '/nowhere'"),
        (("--key", "a"), "rows 1 and "),
        (("--key", "ID", "--shares", "s.json"), "give --parameters shares too"),
        (
            ("--key", "ID", "--parameters", "shares", "--shares", "s.json", "-o", "s.json"),
            "s.json is to be written twice",
        ),
        (
            ("--key", "ID", "--parameters", "shares", "--shares", "s.json", "-o", "s.guest.json"),
            "s.guest.json is to be written twice",
        ),
        ((), "Missing option '--key'"),
    ],
)
def test_bad_input_is_one_line(
    run: Callable, files: tuple[Path, Path], arguments: tuple[object, ...], line: str
) -> None:
    ran = run("private", "simulate", *files, *arguments)
    assert ran.code == 2
    assert line in ran.err
    assert ran.err.startswith("dagora: error: ")
    assert ran.err.count("\n") == 1
    assert not ran.out


@pytest.fixture(scope="module")
def three_levels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A column of three levels each, one of which follows the other."""
    folder, rng = tmp_path_factory.mktemp("levels"), np.random.default_rng(3)
    age = rng.integers(0, 3, 200)
    tar = np.where(rng.random(200) < 0.3, rng.integers(0, 3, 200), age)
    made = []
    for name, codes, words in (("age", age, "young middle old"), ("tar", tar, "low medium high")):
        made.append(folder / f"{name}.csv")
        levels = words.split()
        rows = "".join(f"{row},{levels[code]}\n" for row, code in enumerate(codes))
        made[-1].write_text(f"ID,{name}\n{rows}")
    return made[0], made[1]


def test_opened_parameters_are_a_network_that_answers(
    run: Callable, three_levels: tuple[Path, Path], tmp_path: Path
) -> None:
    line = ("private", "simulate", *three_levels, "--key", "ID", "--in-memory", "--parameters", "open")
    ran = run(*line, "-o", tmp_path / "opened.bif", "--levels", "age=3,tar=3")
    assert ran.code == 0, ran.err
    assert "the probabilities of 1 to three digits" in ran.out
    network = dagora.read_network(tmp_path / "opened.bif")
    assert network.levels["tar"] == ("high", "low", "medium")
    assert network.graph.edges == (("age", "tar"),)
    assert run(*line, "-o", tmp_path / "opened.json").code == 0
    again = dagora.read_network(tmp_path / "opened.json")
    assert np.allclose(again.tables["tar"], network.tables["tar"], atol=1e-6)


def test_where_no_network_can_be_made_the_result_is_not_lost(
    run: Callable, three_levels: tuple[Path, Path], tmp_path: Path
) -> None:
    """The host owns the child alone, and its only parent's table stays with the guest."""
    line = ("private", "simulate", *three_levels, "--key", "ID", "--in-memory", "--parameters", "open")
    ran = run(*line, "--order", "tar,age", "-o", tmp_path / "opened.bif")
    assert ran.code == 2
    assert "no network can be made of what was opened" in ran.err
    assert f"the result is in {tmp_path / 'opened.bif.json'}" in ran.err
    assert json.loads((tmp_path / "opened.bif.json").read_text())["edges"] == [["tar", "age"]]
    ran = run(*line, "--order", "tar,age", "-o", tmp_path / "opened.json")
    assert (ran.code, ran.err.count("dagora: note: ")) == (0, 1)
    assert "has no parameters of all variables" in ran.err


def test_shares_go_to_a_file_for_each(run: Callable, three_levels: tuple[Path, Path], tmp_path: Path) -> None:
    line = ("private", "simulate", *three_levels, "--key", "ID", "--in-memory", "--parameters", "shares")
    assert "needs a file: give --shares" in run(*line).err
    assert run(*line, "--shares", tmp_path / "counts.json", "--quiet").code == 0
    host, guest = (json.loads((tmp_path / f"counts.{name}.json").read_text()) for name in ("host", "guest"))
    (one,), (other,) = host["families"], guest["families"]
    assert one["variables"] == ["age", "tar"]
    assert sum((a + b) % host["modulus"] for a, b in zip(one["shares"], other["shares"], strict=True)) == 200


def test_what_owners_expect_of_each_other_is_checked(run: Callable, three_levels: tuple[Path, Path]) -> None:
    line = ("private", "simulate", *three_levels, "--key", "ID", "--in-memory", "--quiet")
    for more, said in (
        (("--levels", "tar=2"), "column 'tar' has 3 levels at the guest, and the host expects 2"),
        (("--min-rows", 201), "have 200 keys in common: at least 201 are needed"),
        (("--score", "g"), "the score g is of columns with two levels"),
    ):
        ran = run(*line, *more)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert said in ran.err


def test_a_wrong_order_ends_both_processes_with_one_line(run: Callable, files: tuple[Path, Path]) -> None:
    ran = run("private", "simulate", *files, "--key", "ID", "--order", "a,b,c,d")
    assert ran.code != 0
    assert "option 'order' must name every variable once: 'e' is missing" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(("common", "line"), [(0, "have no key in common"), (1, "have one key in common")])
@pytest.mark.parametrize("how", [pytest.param((), marks=pytest.mark.slow), ("--in-memory",)])
def test_too_few_common_keys_are_bad_input(
    run: Callable, tmp_path: Path, common: int, line: str, how: tuple[str, ...]
) -> None:
    paths = tmp_path / "host.csv", tmp_path / "guest.csv"
    for path, column, first in zip(paths, "ab", (0, 10 - common), strict=True):
        path.write_text(f"ID,{column}\n" + "".join(f"k{first + row},{row % 2}\n" for row in range(10)))
    ran = run("private", "simulate", *paths, "--key", "ID", "--quiet", *how)
    assert ran.code == 2
    assert ran.err.startswith(f"dagora: error: the two parties {line}")
    assert ran.err.count("\n") == 1


def test_both_terminals_find_the_same_disagreement(
    run: Callable, start: Callable, files: tuple[Path, Path], tmp_path: Path
) -> None:
    run("private", "certificates", tmp_path / "run")
    host = start(
        "private", "host", "--data", files[0], "--certificates", tmp_path / "run" / "host", "--port", 0,
        "--key", "ID", "--max-parents", 3,
    )  # fmt: skip
    guest = run(
        "private", "join", "--data", files[1], "--certificates", tmp_path / "run" / "guest",
        "--key", "ID", "--max-parents", 2, "--connect", listening(host),
    )  # fmt: skip
    _, err = host.communicate(timeout=120)
    for code, said in ((guest.code, guest.err), (host.returncode, err)):
        assert code == 2
        assert (
            said.splitlines()[-1]
            == "dagora: error: option 'max_parents' is '3' at the host and '2' at the guest"
        )


def test_missing_cells_are_refused_or_their_rows_left_out(
    run: Callable, files: tuple[Path, Path], tmp_path: Path
) -> None:
    gaps = tmp_path / "gaps.csv"
    header, first, *rest = files[0].read_text().splitlines()
    assert first.startswith("k")
    gaps.write_text("\n".join([header, first[:-1], *rest]) + "\n")
    line = (
        "private",
        "simulate",
        gaps,
        files[1],
        "--key",
        "ID",
        "--max-parents",
        1,
        "--quiet",
        "--json",
        "--in-memory",
    )
    refused = run(*line)
    assert refused.code == 2
    assert "1 cell is missing, the first in column 'c', data row 1: choose --missing drop" in refused.err
    ran = run(*line, "--missing", "drop")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["stats"]["rows"] == 149


def test_without_certificates_the_command_that_makes_them_is_named(
    run: Callable, files: tuple[Path, Path]
) -> None:
    ran = run("private", "host", "--data", files[0], "--key", "ID", "--certificates", "nowhere")
    assert ran.code == 2
    assert "make certificates with `dagora private certificates`" in ran.err


def test_certificates_are_for_one_party_each(run: Callable, files: tuple[Path, Path], tmp_path: Path) -> None:
    ran = run("private", "certificates", tmp_path / "run")
    assert ran.out.split() == [str(tmp_path / "run" / name) for name in ("host", "guest")]
    wrong = run(
        "private", "join", "--data", files[1], "--key", "ID", "--connect", "127.0.0.1:1",
        "--certificates", tmp_path / "run" / "host",
    )  # fmt: skip
    assert wrong.code == 2
    assert "are those of 'host', not of the guest" in wrong.err


def test_nobody_there(run: Callable, files: tuple[Path, Path], tmp_path: Path) -> None:
    run("private", "certificates", tmp_path / "run")
    for part in (
        (
            "join",
            "--data",
            files[1],
            "--connect",
            "127.0.0.1:1",
            "--certificates",
            tmp_path / "run" / "guest",
        ),
        ("host", "--data", files[0], "--port", 0, "--certificates", tmp_path / "run" / "host"),
    ):
        ran = run("private", *part, "--key", "ID", "--wait", 0.2)
        assert ran.code == 1
        assert ran.err.splitlines()[-1].startswith("dagora: error: ")


def listening(process: subprocess.Popen[str]) -> str:
    """Where a host listens."""
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"listening on (\S+)", line):
            return found[1]
    raise AssertionError("the host said nothing of its start")


def test_two_terminals_keep_logs_and_the_second_session_is_one_too_many(
    run: Callable, start: Callable, files: tuple[Path, Path], tmp_path: Path
) -> None:
    run("private", "certificates", tmp_path / "run")
    folders = [tmp_path / "run" / name for name in ("host", "guest")]
    common = ("--key", "ID", "--quiet")
    elsewhere = tmp_path / "guest.jsonl"
    host = start(
        "private", "host", "--data", files[0], "--certificates", folders[0], "--port", 0, *common,
        "--max-sessions", 1, "--max-parents", 1,
    )  # fmt: skip
    joining = (
        "private", "join", "--data", files[1], "--certificates", folders[1], *common, "--log", elsewhere,
    )  # fmt: skip
    guest = run(*joining, "--connect", listening(host))
    out, err = host.communicate(timeout=120)
    assert (host.returncode, guest.code) == (0, 0), (err, guest.err)
    assert "→" in out
    assert "→" in guest.out
    assert not (folders[1] / "sessions.jsonl").exists()
    for log, own in ((folders[0] / "sessions.jsonl", list("abc")), (elsewhere, list("de"))):
        begun, ended = map(json.loads, log.read_text().splitlines())
        assert (begun["own"], ended["status"], ended["rows"]) == (own, "finished", 150)
        assert begun["session"] == ended["session"]
    again = run(
        "private", "host", "--data", files[0], "--certificates", folders[0], "--port", 0, *common,
        "--max-sessions", 1,
    )  # fmt: skip
    assert again.code == 2
    assert "was in 1 session already" in again.err
    assert again.err.count("\n") == 1
    warned = run(*joining, "--connect", "127.0.0.1:1", "--wait", 0.2)
    assert "warning: these columns were in 1 session before (limit 10)" in warned.err
