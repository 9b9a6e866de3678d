"""`dagora federate`: the result on pooled rows, whoever holds them, and one clear line for whatever goes wrong."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.commands.data_options import Reading, list_names
from dagora.commands.federate import declared, site_files
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.data.writers import write_table
from dagora.parties.certificates import Credentials, client_context, make_certificates
from dagora.parties.connection import Connection
from dagora.parties.frames import Kind
from dagora.parties.handshake import shake_hands
from dagora.parties.horizontal import sum_site
from dagora.parties.horizontal.agreement import conform
from dagora.parties.horizontal.federation import Site
from dagora.parties.horizontal.fixed_point import encode_integers, encode_reals
from dagora.parties.horizontal.tasks import TASKS
from dagora.parties.listener import Listener
from dagora.parties.memory import MemoryTransport
from dagora.parties.messages import decode
from dagora.parties.transport import Limits
from tests.commands.consortium import (
    COORDINATOR,
    PATIENCE,
    SITES,
    Play,
    Troupe,
    client_line,
    coordinator_line,
    only_line,
)
from tests.conftest import ROOT, Ran

ENDLESS = ("--method", "hill-climb", "--option", "restarts=100000000", "--option", "perturb=8")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys") / "keys"
    make_certificates(folder, [COORDINATOR, *SITES, "stranger"])
    return folder


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of a linear model with six columns, 400 of them."""
    file = tmp_path_factory.mktemp("numbers") / "numbers.csv"
    write_table(dagora.simulate(dagora.random_dag("er", 6, 1.5, seed=4), "gaussian", 400, seed=4).table, file)
    return file


@pytest.fixture(scope="module")
def files(garden: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file for each site, of unequal sizes."""
    folder = tmp_path_factory.mktemp("sites")
    table = dagora.read_table(garden / "garden.csv")
    parts = split_rows(table, 4, seed=1, sizes=[1500, 1000, 499, 1])
    for site, part in zip(SITES, parts, strict=True):
        write_table(part, folder / f"{site}.csv")
    return {site: folder / f"{site}.csv" for site in SITES}


@pytest.fixture(scope="module")
def long_work(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files on whose 24 columns a climb with restarts keeps asking for new sums."""
    folder = tmp_path_factory.mktemp("long")
    table = dagora.simulate(dagora.random_dag("er", 24, 4, seed=1), "logistic", 300, seed=1).table
    for site, part in zip(SITES, split_rows(table, 4), strict=True):
        write_table(part, folder / f"{site}.csv")
    return {site: folder / f"{site}.csv" for site in SITES}


@pytest.fixture
def play(
    keys: Path, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Ran]]:
    """Let all parties run as threads; `others` replaces or adds clients."""
    # Closing waits this long for peers that said nothing; nobody here is slow.
    monkeypatch.setattr("dagora.parties.tcp.LINGER", 0.3)

    def call(
        *arguments: object,
        helpers: tuple[Callable, ...] = (),
        sites: tuple[str, ...] = SITES,
        others: dict[str, list[str] | None] | None = None,
    ) -> dict[str, Ran]:
        usual = {site: client_line(keys, site, files[site]) for site in sites}
        clients = {who: line for who, line in {**usual, **(others or {})}.items() if line is not None}
        return Play()(coordinator_line(keys, *arguments, sites=sites), clients, *helpers)

    return call


def edges_of(content: str) -> tuple[list, list, float]:
    learned = json.loads(content)
    return learned["edges"], learned["undirected"], learned["score"]


def pooled(file: Path, method: str = "hill-climb") -> tuple[list, list, object]:
    result = dagora.learn(file, method)
    edges = [[list(edge) for edge in some] for some in (result.graph.edges, result.graph.undirected)]
    return edges[0], edges[1], pytest.approx(result.score, rel=1e-9)


def without_times(content: str) -> dict:
    learned = json.loads(content)
    steps = [point[1:] for point in learned.pop("trace")]
    return {**learned, "seconds": 0, "trace": steps}


# --- the same result as on pooled rows


def test_simulate_with_processes_gives_the_network_of_the_pooled_rows(
    run: Callable, garden: Path, tmp_path: Path
) -> None:
    ran = run("federate", "simulate", garden / "garden.csv", "--parties", 3, "-o", tmp_path / "s.bif", "--json", "--quiet")  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("\n") == 1
    assert edges_of(ran.out) == pooled(garden / "garden.csv")
    assert json.loads(ran.out)["stats"]["bytes_from_site3"] > 0
    assert run("learn", garden / "garden.csv", "-o", tmp_path / "p.bif").code == 0
    assert (tmp_path / "s.bif").read_text() == (tmp_path / "p.bif").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["notears", "ges"])
def test_simulate_with_processes_on_numbers(run: Callable, numbers: Path, method: str) -> None:
    ran = run("federate", "simulate", numbers, "--parties", 3, "--method", method, "--json")
    assert ran.code == 0
    assert edges_of(ran.out) == pooled(numbers, method)


@pytest.mark.parametrize("method", ["hill-climb", "ges", "notears"])
@pytest.mark.parametrize("kind", ["garden", "numbers"])
def test_simulate_in_memory(run: Callable, request: pytest.FixtureRequest, method: str, kind: str) -> None:
    file = request.getfixturevalue(kind)
    file = file / "garden.csv" if kind == "garden" else file
    line = ("federate", "simulate", file, "--parties", 4, "--in-memory", "--method", method, "--json")
    ran = run(*line)
    if (method, kind) == ("notears", "garden"):
        assert ran.code == 2
        assert "discrete" in ran.err
        return
    assert ran.code == 0
    assert edges_of(ran.out) == pooled(file, method)
    again = without_times(run(*line, "--seed", 0).out)
    # Signatures vary in length by a byte or two.
    for content in (again, first := without_times(ran.out)):
        content["stats"] = {k: v for k, v in content["stats"].items() if not k.startswith(("bytes", "sec"))}
    assert again == first
    assert edges_of(run(*line, "--seed", 5).out) == pooled(file, method)


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Names with commas and dashes, levels that look like numbers, quotes, gaps."""
    rng = np.random.default_rng(1)
    first = rng.choice(["yes", 'it\'s, "odd"', "1.0", "1"], 60)
    second = np.where(rng.random(60) < 0.9, first, "no")
    rows = np.column_stack([first, second, rng.choice(["", "x"], 60), rng.choice(["1", "01", "2"], 60)])
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    (tmp_path / "odd.csv").write_text("\n".join(['"a, b",-c,d,e', *quoted]) + "\n")
    return tmp_path / "odd.csv"


def test_odd_names_and_levels_survive_the_way_through_files(odd: Path) -> None:
    table = dagora.read_table(odd, missing="level", discrete=["e"])
    parts = split_rows(table, 3)
    with site_files(dict(zip("abc", parts, strict=True))) as written:
        assert all(file.parent.stat().st_mode & 0o077 == 0 for file in written.values())
        kinds = {kind: list_names(columns) for kind, columns in declared(table).items()}
        for part, file in zip(parts, written.values(), strict=True):
            again = Reading(**kinds).table(str(file), part=True)
            assert conform(again, table.schema).equals(part)
    assert not any(file.parent.exists() for file in written.values())


@pytest.mark.slow
def test_odd_names_and_levels_with_processes(run: Callable, odd: Path) -> None:
    line = ("--parties", 3, "--missing", "level", "--discrete", "e", "--json")
    ran = run("federate", "simulate", odd, *line)
    assert ran.code == 0, ran.err
    result = dagora.learn(dagora.read_table(odd, missing="level", discrete=["e"]))
    assert edges_of(ran.out) == ([list(edge) for edge in result.graph.edges], [], result.score)


def test_keys_of_another_role_are_refused(run: Callable, keys: Path, files: dict[str, Path]) -> None:
    swapped = run(*coordinator_line(keys), "--keys", keys / "east")
    assert swapped.code == 2
    assert "is for 'east'" in only_line(swapped)
    swapped = run(*client_line(keys, COORDINATOR, files["east"]), "--connect", "127.0.0.1:1")
    assert swapped.code == 2
    assert "is for the coordinator" in only_line(swapped)


def test_by_hand_with_processes(run: Callable, garden: Path, files: dict[str, Path], tmp_path: Path) -> None:
    """Keys, a coordinator and three clients, as the manual says; the fourth site's row goes to another."""
    made = run("federate", "keys", tmp_path / "keys", "--sites", "east,north,south")
    assert made.code == 0
    assert made.out.split() == [str(tmp_path / "keys" / name) for name in (COORDINATOR, "east", "north", "south")]  # fmt: skip
    assert (tmp_path / "keys" / "north" / "party.key").stat().st_mode & 0o077 == 0
    south = tmp_path / "south.csv"
    south.write_text(files["south"].read_text() + files["west"].read_text().partition("\n")[2])
    with Troupe(tmp_path / "keys") as troupe:
        out = tmp_path / "out.bif"
        troupe.begin({"east": files["east"], "north": files["north"], "south": south}, "--json", "-o", out)
        ended = troupe.end()
    assert {name: ran.code for name, ran in ended.items()} == dict.fromkeys(ended, 0)
    assert edges_of(ended[COORDINATOR].out) == pooled(garden / "garden.csv")
    assert run("learn", garden / "garden.csv", "-o", tmp_path / "pooled.bif").code == 0
    assert out.read_text() == (tmp_path / "pooled.bif").read_text()
    assert "answered schema 1×, adopt 1×, size-and-orders 1×, cells" in ended["north"].err
    assert not ended["north"].out


def test_a_site_with_one_row_takes_part(play: Callable, garden: Path) -> None:
    ended = play("--json")
    assert ended[COORDINATOR].code == 0, ended
    assert edges_of(ended[COORDINATOR].out) == pooled(garden / "garden.csv")
    assert [ended[site].code for site in SITES] == [0] * 4


def test_two_sites_only_where_everybody_says_so(
    play: Callable, keys: Path, files: dict[str, Path], run: Callable
) -> None:
    refused = run(*coordinator_line(keys, sites=("east", "north")))
    assert refused.code == 2
    assert "--minimum" in only_line(refused)
    pair = ("east", "north")
    ended = play("--minimum", 2, sites=pair)
    assert {ran.code for ran in ended.values()} == {1}
    assert all("too few: at least 3 must take part" in only_line(ran) for ran in ended.values())
    agreed = {site: client_line(keys, site, files[site], "--minimum", 2) for site in pair}
    assert {ran.code for ran in play("--minimum", 2, sites=pair, others=agreed).values()} == {0}


def test_waiting_for_the_sites_is_not_in_the_time_limit(
    play: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dagora.parties import tcp

    def later(*arguments: object, **options: object) -> object:
        time.sleep(1.5)
        return connect(*arguments, **options)

    connect = tcp.connect
    monkeypatch.setattr(tcp, "connect", later)
    begun = time.monotonic()
    ended = play("--json")
    assert json.loads(ended[COORDINATOR].out)["seconds"] < time.monotonic() - begun - 1.4


def test_a_method_that_counts_its_own_rounds_is_believed(run: Callable, numbers: Path) -> None:
    line = ("--parties", 3, "--in-memory", "--method", "admm", "--option", "max_rounds=7", "--json")
    ran = run("federate", "simulate", numbers, *line, "--quiet")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["stats"]["rounds"] == 7


# --- who does not fit


def refusals(ended: dict[str, Ran], *mentions: str, code: int = 1) -> None:
    """All parties end with one line each, and those that are told why say the same."""
    assert ended[COORDINATOR].code == code
    why = only_line(ended[COORDINATOR])
    assert all(mention in why for mention in mentions), why
    for name, ran in ended.items():
        if name != COORDINATOR:
            assert ran.code == 1
            assert only_line(ran) == f"party 'coordinator' ended the run: {why}"


@pytest.mark.parametrize(
    ("change", "mentions"),
    [
        (lambda text: text.replace("season", "time_of_year", 1), ("'season'", "east", "south")),
        (
            lambda text: "\n".join(line.rpartition(",")[0] for line in text.splitlines()),
            ("'harvest'", "is a column of east but not of south"),
        ),
    ],
)
def test_other_columns(
    play: Callable, keys: Path, files: dict[str, Path], tmp_path: Path, change: Callable, mentions: tuple
) -> None:
    (tmp_path / "south.csv").write_text(change(files["south"].read_text()))
    others = {"south": client_line(keys, "south", tmp_path / "south.csv")}
    refusals(play(others=others), *mentions, code=2)


def test_text_where_others_have_numbers(play: Callable, keys: Path, numbers: Path, tmp_path: Path) -> None:
    text = numbers.read_text()
    (tmp_path / "south.csv").write_text(text.replace(text.splitlines()[5].partition(",")[0], "high"))
    clients = {site: client_line(keys, site, numbers) for site in SITES}
    clients["south"] = client_line(keys, "south", tmp_path / "south.csv", "--discrete", "x0")
    refusals(play(others=clients), "column 'x0' is text at south and numbers at", code=2)


def test_a_level_that_one_site_never_saw_is_no_fault(play: Callable, keys: Path, garden: Path) -> None:
    one = dagora.read_table(garden / "garden.csv")
    assert len(one.schema[0].levels) > 1
    # The site with one row has seen one level of each column.
    ended = play("--json", "--score", "bdeu")
    result = dagora.learn(garden / "garden.csv", score="bdeu")
    assert json.loads(ended[COORDINATOR].out)["score"] == pytest.approx(result.score, rel=1e-12)


def test_a_site_with_an_empty_file_is_waited_for_in_vain(play: Callable, keys: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    out = tmp_path / "out.json"
    ended = play("--wait", 1, "-o", out, others={"south": client_line(keys, "south", tmp_path / "empty.csv")})
    south = ended.pop("south")
    assert south.code == 2
    assert "is empty" in only_line(south)
    refusals(ended, "waited 1 s in vain for 'south'")
    assert not out.exists()


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Callable]:
    """Keep a client from coming until somebody has said something; makes a helper of a play."""

    def make(folder: Path, **said: str) -> Callable:
        heard = threading.Event()
        load = Credentials.load

        def load_later(chosen: str | Path) -> Credentials:
            if Path(chosen) == folder:
                assert heard.wait(PATIENCE)
            return load(chosen)

        def helper(stage: Play) -> None:
            for who, pattern in said.items():
                stage.err.wait_for(who, pattern)
            heard.set()

        monkeypatch.setattr(Credentials, "load", load_later)
        return helper

    return make


def test_who_has_no_right_certificate_is_refused_and_the_run_goes_on(
    play: Callable, hold: Callable, keys: Path, files: dict[str, Path], tmp_path: Path
) -> None:
    make_certificates(tmp_path / "foreign", [COORDINATOR, "north"])
    intruders = {
        "forger": client_line(tmp_path / "foreign", "north", files["north"]),
        "stranger": client_line(keys, "stranger", files["west"]),
    }
    helper = hold(keys / "north", forger="error", stranger="error")
    ended = play("--json", sites=SITES[:3], others=intruders, helpers=(helper,))
    assert [ended[who].code for who in (COORDINATOR, *SITES[:3])] == [0] * 4
    assert ended["forger"].code == ended["stranger"].code == 1
    assert "certificate is not signed by our CA" in only_line(ended["forger"])
    assert (
        only_line(ended["stranger"]) == "party 'coordinator' ended the run: no party 'stranger' is expected"
    )
    assert "warning: refused a connection from 127.0.0.1" in ended[COORDINATOR].err


def test_a_second_client_of_one_name_is_turned_away(
    play: Callable, hold: Callable, keys: Path, files: dict[str, Path]
) -> None:
    again = client_line(keys, "east", files["east"])
    helper = hold(keys / "west", MainThread="is taken")
    ended = play(others={"east again": again}, helpers=(helper,))
    assert ended[COORDINATOR].code == 0, ended
    assert "warning: refused party 'east': the name 'east' is taken" in ended[COORDINATOR].err
    assert sorted([ended["east"].code, ended["east again"].code]) == [0, 1]
    loser = ended["east"] if ended["east"].code else ended["east again"]
    assert only_line(loser) == "party 'coordinator' ended the run: the name 'east' is taken"


def test_a_site_shows_what_it_learns_alone_only_where_its_owner_allows_it(
    play: Callable, keys: Path, numbers: Path
) -> None:
    clients = {site: client_line(keys, site, numbers) for site in SITES}
    ended = play("--method", "vote", others=clients)
    asked = ended.pop("east")
    assert asked.code == 2
    assert "--show-weights would allow it" in only_line(asked)
    assert "cannot answer 'local-weights'" in only_line(ended[COORDINATOR])
    assert {ran.code for ran in ended.values()} <= {1, 2}
    allowed = {site: [*line, "--show-weights"] for site, line in clients.items()}
    ended = play("--method", "vote", "--json", others=allowed)
    assert {ran.code for ran in ended.values()} == {0}, ended
    assert "were shown to the coordinator" in ended[COORDINATOR].err


def test_a_wrong_port(run: Callable, keys: Path, files: dict[str, Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        busy = run(*coordinator_line(keys), "--port", port)
    assert busy.code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in only_line(busy)
    line = ["federate", "client", files["east"], "--keys", keys / "east", "--connect", f"127.0.0.1:{port}"]
    ran = run(*line, "--wait", 0.3)
    assert ran.code == 1
    assert only_line(ran) == f"nobody listens at 127.0.0.1:{port} (tried for 0.3 s): connection refused"


# --- who is lost


def test_a_client_that_vanishes_before_the_run_begins_may_come_back(
    play: Callable, keys: Path, files: dict[str, Path]
) -> None:
    came = threading.Event()

    def come_and_go(stage: Play) -> None:
        host, _, port = stage.address().rpartition(":")
        credentials = Credentials.load(keys / "west")
        raw = socket.create_connection((host, int(port)))
        tls = shake_hands(raw, client_context(credentials), server=False, timeout=PATIENCE)
        line = Connection(tls, COORDINATOR, Limits())
        line.send_frame(Kind.HELLO, b"", 0, b"", PATIENCE)
        time.sleep(0.3)
        line.drop()
        stage.err.wait_for("MainThread", "it left before the run began")
        came.set()

    read = dagora.read_table

    def read_later(path: str, **options: object) -> Table:
        if Path(path).stem in ("east", "west"):
            assert came.wait(PATIENCE)
        return read(path, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dagora.data.readers.read_table", read_later)
        ended = play(helpers=(come_and_go,))
    assert {ran.code for ran in ended.values()} == {0}, ended
    assert "warning: refused party 'west': it left before the run began" in ended[COORDINATOR].err


class Fate:
    """Something that happens to one site when it is asked for a task the n-th time."""

    def __init__(self, patch: pytest.MonkeyPatch, site: str, task: str, count: int, act: Callable) -> None:
        from dagora.parties import tcp

        connect, answer = tcp.connect, TASKS[task]
        asked = []

        def remember(credentials: Credentials, *arguments: object, **options: object) -> object:
            transport = connect(credentials, *arguments, **options)
            if credentials.name == site:
                self.transport = transport
            return transport

        def perhaps(at: Site, question: object) -> object:
            if at.name == site:
                asked.append(task)
                if len(asked) == count:
                    act(self.transport)
            return answer(at, question)

        patch.setattr(tcp, "connect", remember)
        patch.setitem(TASKS, task, perhaps)


def test_a_site_lost_before_any_sum_is_left_out_with_a_warning(
    play: Callable, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Fate(monkeypatch, "south", "adopt", 1, lambda transport: transport.drop())
    ended = play("--json")
    south = ended.pop("south")
    assert south.code == 1
    only_line(south)
    assert {ran.code for ran in ended.values()} == {0}
    assert "warning: site 'south' was lost" in ended[COORDINATOR].err
    rest = [files[site].read_text() for site in SITES if site != "south"]
    (tmp_path / "rest.csv").write_text(rest[0] + "".join(text.partition("\n")[2] for text in rest[1:]))
    assert json.loads(ended[COORDINATOR].out)["stats"]["rows"] == 3000 - 499
    assert edges_of(ended[COORDINATOR].out) == pooled(tmp_path / "rest.csv")


def test_a_site_lost_after_sums_ends_the_run_everywhere(
    play: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Fate(monkeypatch, "south", "cells", 3, lambda transport: transport.drop())
    ended = play("-o", tmp_path / "out.json", "--picture", tmp_path / "out.svg")
    assert ended.pop("south").code == 1
    refusals(ended, "site 'south' was lost after sums with it were opened", "start again")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("count", "code"), [(1, 0), (3, 1)])
def test_a_site_that_is_too_slow(
    play: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, code: int
) -> None:
    """It is left out of the first sum; later, the run ends, within its patience."""
    over = threading.Event()
    task = "size-and-orders" if count == 1 else "cells"
    Fate(monkeypatch, "south", task, count, lambda _: over.wait(PATIENCE))

    def wake(stage: Play) -> None:
        stage.err.wait_for("MainThread", "site 'south' was lost")
        over.set()

    ended = play("--patience", 5, "-o", tmp_path / "out.json", helpers=(wake,))
    south = ended.pop("south")
    assert south.code == 1
    assert ended[COORDINATOR].code == code
    if code:
        refusals(ended, "site 'south' was lost after sums", "within 5 s")
        assert "ended the run" in only_line(south)
        assert not (tmp_path / "out.json").exists()
    else:
        assert {ran.code for ran in ended.values()} == {0}
        # If all is over by the time it wakes, it hears that.
        told = only_line(south)
        assert "went on without this site, which was too slow" in told or "has left the run" in told
        assert json.loads((tmp_path / "out.json").read_text())["stats"]["rows"] == 3000 - 499


def interrupt_when(pattern: str) -> Callable[[Play], None]:
    def helper(stage: Play) -> None:
        stage.err.wait_for("MainThread", pattern)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    return helper


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as in a fresh process, whatever runs the tests."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


def test_ctrl_c_while_waiting_ends_those_who_came(
    play: Callable, tmp_path: Path, interruptible: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    three, look_after = threading.Event(), Listener._look_after

    def look(listener: Listener, there: dict) -> None:
        look_after(listener, there)
        if len(there) == 3:
            three.set()

    def interrupt(stage: Play) -> None:
        assert three.wait(PATIENCE)
        interrupt_when("listening")(stage)

    monkeypatch.setattr(Listener, "_look_after", look)
    ended = play("-o", tmp_path / "out.json", others={"south": None}, helpers=(interrupt,))
    assert ended[COORDINATOR].code == 130
    assert ended[COORDINATOR].err.endswith("dagora: interrupted\n")
    for site in ("east", "north", "west"):
        assert ended[site].code == 1
        assert only_line(ended[site]) == "party 'coordinator' ended the run: it was interrupted"
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_at_work_gives_the_best_so_far(
    play: Callable, keys: Path, long_work: dict[str, Path], interruptible: None
) -> None:
    others = {site: client_line(keys, site, file) for site, file in long_work.items()}
    ended = play(*ENDLESS, "--json", others=others, helpers=(interrupt_when("climbing"),))
    assert {ran.code for ran in ended.values()} == {0}
    learned = json.loads(ended[COORDINATOR].out)
    assert learned["status"] == "time-limit"
    assert "interrupted" in learned["message"]
    assert learned["edges"]


# --- who is killed


def test_a_client_killed_during_the_sums(keys: Path, long_work: dict[str, Path], tmp_path: Path) -> None:
    with Troupe(keys) as troupe:
        files = {site: long_work[site] for site in SITES[:3]}
        troupe.begin(files, *ENDLESS, "-o", tmp_path / "out.json")
        troupe.hear("climbing")
        troupe.processes.kill("south")
        ended = troupe.end()
    assert ended.pop("south").code == -signal.SIGKILL
    # Which of the two rules is met first depends on the moment of the kill.
    why = only_line(ended[COORDINATOR])
    assert "lost after sums with it were opened" in why or "too few for a secure sum" in why
    refusals(ended, "connection to party 'south' was lost")
    assert list(tmp_path.iterdir()) == []


def test_the_coordinator_killed_during_the_sums(
    keys: Path, long_work: dict[str, Path], tmp_path: Path
) -> None:
    with Troupe(keys) as troupe:
        files = {site: long_work[site] for site in SITES[:3]}
        troupe.begin(files, *ENDLESS, "-o", tmp_path / "out.json")
        troupe.hear("climbing")
        troupe.processes.kill(COORDINATOR)
        ended = troupe.end()
    assert ended.pop(COORDINATOR).code == -signal.SIGKILL
    for ran in ended.values():
        assert ran.code == 1
        assert only_line(ran).startswith("the connection to party 'coordinator' was lost")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_stopped_client_is_too_slow(keys: Path, long_work: dict[str, Path]) -> None:
    with Troupe(keys) as troupe:
        troupe.begin(long_work, *ENDLESS, "--patience", 6)
        troupe.hear("climbing")
        troupe.signal("south", signal.SIGSTOP)
        try:
            deadline = time.monotonic() + PATIENCE
            while len(troupe.processes.results()) < 4 and time.monotonic() < deadline:
                time.sleep(0.05)
            assert len(troupe.processes.results()) == 4
        finally:
            troupe.signal("south", signal.SIGCONT)
        ended = troupe.end()
    assert "ended the run" in only_line(ended.pop("south"))
    refusals(ended, "site 'south' was lost after sums", "within 6 s")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_simulation_that_is_stopped_leaves_nothing(
    start: Callable, long_work: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = start("federate", "simulate", long_work["east"], "--parties", 3, *ENDLESS)
    deadline = time.monotonic() + PATIENCE
    while "climbing" not in process.stderr.readline():
        assert time.monotonic() < deadline
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == (130 if number == signal.SIGINT else 128 + number)
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == [], "rows or keys were left behind"


# --- what the manual says


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/federated.md"])
def test_the_example_works_as_it_stands(page: str, tmp_path: Path) -> None:
    """Lines of the parties all at once, the others one after the other."""
    text = (ROOT / page).read_text().partition("ows spread over sites\n")[2]
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks[:2] for line in block.splitlines() if "dagora" in line or "awk" in line]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = f"{sys.executable} -m dagora "
    lines = [re.sub(r"^(?:\.venv/bin/)?dagora ", command, line) for line in lines]
    lines = [line.replace(":7100", f":{port}").replace(" --port 7100", "") for line in lines]
    parties = [line for line in lines if re.search("federate (coordinator|client)", line)]
    assert len(parties) == 4
    shell = {
        "cwd": tmp_path,
        "shell": True,
        "env": {**os.environ, "PYTHONPATH": str(ROOT / "src")},
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "encoding": "utf-8",
    }
    for line in lines[: lines.index(parties[0])]:
        done = subprocess.run(line, **shell, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stdout
    at_work = [subprocess.Popen(f"exec {parties[0]} --port {port}", **shell)]
    at_work += [subprocess.Popen(f"exec {line}", **shell) for line in parties[1:]]
    try:
        said = [party.communicate(timeout=PATIENCE)[0] for party in at_work]
    finally:
        for party in at_work:
            party.kill()
            party.wait()
    assert [party.returncode for party in at_work] == [0] * 4, said
    learned = json.loads((tmp_path / "network.json").read_text())
    assert learned["status"] == "optimal"
    assert learned["score"] == pytest.approx(dagora.learn(tmp_path / "all.csv", "ilp").score, rel=1e-9)


# --- what the coordinator sees


class Recording:
    """What the coordinator receives in a simulation in memory, and what the sites answered in plain."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.received: list[tuple[str, str, bytes]] = []
        self.plain: dict[str, list[np.ndarray]] = {}
        receive = MemoryTransport.receive

        def hear(transport: MemoryTransport, sender: str, tag: str, timeout: float | None = None) -> bytes:
            payload = receive(transport, sender, tag, timeout)
            if transport.name == COORDINATOR:
                self.received.append((sender, tag, payload))
            return payload

        patch.setattr(MemoryTransport, "receive", hear)
        for module, encode in (("integers", encode_integers), ("reals", encode_reals)):

            def remember(*arguments: object, encode: Callable = encode) -> np.ndarray:
                vector = encode(*arguments)
                self.plain.setdefault(threading.current_thread().name, []).append(vector)
                return vector

            patch.setattr(f"dagora.parties.horizontal.serving.encode_{module}", remember)

    def inputs(self) -> dict[str, list[np.ndarray]]:
        """The masked vectors of each site, sum by sum."""
        found: dict[str, list[np.ndarray]] = {}
        for sender, tag, payload in self.received:
            if tag.endswith("/input"):
                found.setdefault(sender, []).append(decode(payload)["masked"])
        return found

    def leaks(self) -> list[tuple[str, int]]:
        """Places where a plain vector stands among the bytes that the coordinator received."""
        everything = [payload for _, _, payload in self.received]
        return [
            (who, k)
            for who, vectors in self.plain.items()
            for k, vector in enumerate(vectors)
            if any(vector.tobytes() in payload for payload in everything)
        ]


@pytest.mark.parametrize("kind", ["garden", "numbers"])
def test_no_plain_count_or_sum_reaches_the_coordinator(
    run: Callable, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    file = request.getfixturevalue(kind)
    line = ("federate", "simulate", file / "garden.csv" if kind == "garden" else file, "--parties", 3, "--in-memory")  # fmt: skip
    with monkeypatch.context() as patch:
        seen = Recording(patch)
        assert run(*line, "--quiet").code == 0
    masked, plain = seen.inputs(), list(seen.plain.values())
    sums = len(plain[0])
    assert sums >= 4
    assert [len(vectors) for vectors in (*masked.values(), *plain)] == [sums] * 6
    assert seen.leaks() == []
    for k in range(sums):
        total = np.sum([vectors[k] for vectors in plain], axis=0, dtype=np.uint64)
        for vectors in masked.values():
            # Not one entry is the site's own, nor the sum; and masked entries are large.
            assert not any((vectors[k] == other).any() for other in (*(some[k] for some in plain), total))
            assert (vectors[k] > 2**32).mean() > 0.9
    # The test can fail: this is what it says without masks.
    with monkeypatch.context() as patch:
        for mask in ("self_mask", "pair_masks"):
            patch.setattr(sum_site, mask, lambda *given: np.zeros(given[-1].shape, dtype=np.uint64))
        patch.setattr(
            "dagora.parties.horizontal.sum_coordinator.self_mask",
            lambda *given: np.zeros(given[-1].shape, dtype=np.uint64),
        )
        bare = Recording(patch)
        assert run(*line, "--quiet").code == 0
    assert len(bare.leaks()) == 3 * sums


def test_the_sizes_of_messages_do_not_depend_on_the_numbers(
    run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    traffic = []
    for scale, rows in ((1.0, 90), (1e6, 3000)):
        X = scale * rng.normal(size=(rows, 4)) @ np.triu(rng.normal(size=(4, 4)))
        write_table(Table.from_numpy(X), tmp_path / "numbers.csv")
        with monkeypatch.context() as patch:
            seen = Recording(patch)
            line = ("simulate", tmp_path / "numbers.csv", "--parties", 3, "--in-memory", "--method", "ges")
            assert run("federate", *line).code == 0
        traffic.append(sorted((sender, tag, len(payload)) for sender, tag, payload in seen.received))
    assert traffic[0] == traffic[1]
    assert len(traffic[0]) > 20
