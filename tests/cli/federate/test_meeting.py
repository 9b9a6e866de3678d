"""Until the run begins: who is waited for, who is turned away, who may come back."""

import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dagora.base.errors import FormatError, ProtocolError
from dagora.cli.federate import waiting
from dagora.cli.federate.waiting import AbsenceLines
from dagora.data import readers
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.table import Table
from dagora.parties.horizontal.log.site_log import FileLog
from dagora.parties.horizontal.policy.policy_file import POLICY_NAME
from dagora.parties.transport import tcp
from dagora.parties.transport.certificates import Credentials, client_context, make_certificates
from dagora.parties.transport.connection import Connection
from dagora.parties.transport.handshake import shake_hands
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.transport import MessageLimits
from dagora.parties.transport.wire_format import FrameKind
from tests.cli.federate.consortium import (
    COORDINATOR,
    PATIENCE,
    SITES,
    Play,
    agree_on,
    client_line,
    coordinator_line,
    interrupt_when,
    only_line,
    refusals,
)
from tests.parties.unhurried import Attendance


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


def test_keys_of_another_role_are_refused(run: Callable, keys: Path, files: dict[str, Path]) -> None:
    agree_on(keys, list(files.values()))
    swapped = run(*coordinator_line(keys), "--keys", keys / "east")
    assert swapped.code == 2
    assert "is for 'east'" in only_line(swapped)
    swapped = run(*client_line(keys, COORDINATOR, files["east"]), "--connect", "127.0.0.1:1")
    assert swapped.code == 2
    assert "is for the coordinator" in only_line(swapped)


def test_a_site_that_comes_and_goes_is_not_named_each_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: clock[0])
    tell = AbsenceLines(["a", "b", "c"])
    for _ in range(100):
        tell(("b", "c"))
        tell(("a", "b", "c"))
    assert capsys.readouterr().err == "dagora: waiting for b, c\n"
    tell(("b",))
    clock[0] += 61
    tell(("a", "b"))
    tell(("b",))
    tell(())
    assert capsys.readouterr().err.splitlines() == [
        "dagora: waiting for b",
        "dagora: waiting for a, b",
        "dagora: all sites are there",
    ]


def test_a_log_that_cannot_go_on_is_told_to_the_coordinator(
    run: Callable, keys: Path, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the connection stayed open, and the coordinator waited."""
    agree_on(keys, list(files.values()))
    network = memory_network([COORDINATOR, "east"], hub=COORDINATOR)

    def fail(*_: object) -> None:
        raise FormatError("there is no room for a new file")

    monkeypatch.setattr(FileLog, "hand_over", fail)
    monkeypatch.setattr(tcp, "connect", lambda *_, **__: network["east"])
    ran = run(
        "federate", "client", files["east"], "--keys", keys / "east", "--connect", "127.0.0.1:1", "--quiet"
    )
    assert (ran.code, only_line(ran)) == (2, "there is no room for a new file")
    with pytest.raises(ProtocolError, match="'east' ended the run"):
        network[COORDINATOR].receive("east", "keys", 5.0)


def test_a_wrong_port(run: Callable, keys: Path, files: dict[str, Path]) -> None:
    agree_on(keys, list(files.values()))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        busy = run(*coordinator_line(keys), "--port", port)
    assert busy.code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in only_line(busy)
    line = ["federate", "client", files["east"], "--keys", keys / "east", "--connect", f"127.0.0.1:{port}"]
    ran = run(*line, "--wait", 0.3)
    assert ran.code == 1
    assert only_line(ran) == f"nobody listens at 127.0.0.1:{port} (tried for 0.3 s): connection refused"


def test_waiting_for_the_sites_is_not_in_the_time_limit(
    play: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dagora.parties.transport import tcp

    def later(*arguments: object, **options: object) -> object:
        time.sleep(1.5)
        return connect(*arguments, **options)

    connect = tcp.connect
    monkeypatch.setattr(tcp, "connect", later)
    begun = time.monotonic()
    ended = play("--json")
    assert json.loads(ended[COORDINATOR].out)["seconds"] < time.monotonic() - begun - 1.4


def test_a_site_with_an_empty_file_is_waited_for_in_vain(
    play: Callable, keys: Path, tmp_path: Path, attendance: Attendance
) -> None:
    (tmp_path / "empty.csv").write_text("")
    out = tmp_path / "out.json"

    def give_up(_: Play) -> None:
        attendance.wait_for("east", "north", "west")
        attendance.give_up()

    others = {"south": client_line(keys, "south", tmp_path / "empty.csv")}
    ended = play("--wait", PATIENCE, "-o", out, others=others, helpers=(give_up,))
    south = ended.pop("south")
    assert south.code == 2
    assert "is empty" in only_line(south)
    refusals(ended, f"waited {PATIENCE:.0f} s in vain for 'south'")
    assert not out.exists()


def test_who_has_no_right_certificate_is_refused_and_the_run_goes_on(
    play: Callable, hold: Callable, keys: Path, files: dict[str, Path], tmp_path: Path
) -> None:
    make_certificates(tmp_path / "foreign", [COORDINATOR, "north"])
    policy = ("--policy", keys / "north" / POLICY_NAME)
    intruders = {
        "forger": client_line(tmp_path / "foreign", "north", files["north"], *policy),
        "stranger": client_line(keys, "stranger", files["west"], *policy),
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
    again = client_line(keys, "east", files["east"], "--log", keys / "another.jsonl")
    helper = hold(keys / "west", MainThread="is taken")
    ended = play(others={"east again": again}, helpers=(helper,))
    assert ended[COORDINATOR].code == 0, ended
    assert "warning: refused party 'east': the name 'east' is taken" in ended[COORDINATOR].err
    assert sorted([ended["east"].code, ended["east again"].code]) == [0, 1]
    loser = ended["east"] if ended["east"].code else ended["east again"]
    assert only_line(loser) == "party 'coordinator' ended the run: the name 'east' is taken"


def test_a_client_that_vanishes_before_the_run_begins_may_come_back(
    play: Callable, keys: Path, files: dict[str, Path], attendance: Attendance
) -> None:
    agree_on(keys, list(files.values()))
    came = threading.Event()

    def come_and_go(stage: Play) -> None:
        host, _, port = stage.address().rpartition(":")
        credentials = Credentials.load(keys / "west")
        raw = socket.create_connection((host, int(port)))
        tls = shake_hands(raw, client_context(credentials), timeout=PATIENCE)
        line = Connection(tls, COORDINATOR, MessageLimits())
        line.send_frame(FrameKind.HELLO, b"", 0, b"", PATIENCE)
        attendance.wait_for("west")
        line.drop()
        stage.err.wait_for("MainThread", "it left before the run began")
        came.set()

    read = readers.read_as

    def read_later(path: Path, reading: ReadingOptions) -> Table:
        if path.stem in ("east", "west"):
            assert came.wait(PATIENCE)
        return read(path, reading)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "read_as", read_later)
        ended = play(helpers=(come_and_go,), agreed=True)
    assert {ran.code for ran in ended.values()} == {0}, ended
    assert "warning: refused party 'west': it left before the run began" in ended[COORDINATOR].err


def test_ctrl_c_while_waiting_ends_those_who_came(
    play: Callable, tmp_path: Path, interruptible: None, attendance: Attendance
) -> None:
    def interrupt(stage: Play) -> None:
        attendance.wait_for("east", "north", "west")
        interrupt_when("listening")(stage)

    ended = play("-o", tmp_path / "out.json", others={"south": None}, helpers=(interrupt,))
    assert ended[COORDINATOR].code == 130
    assert ended[COORDINATOR].err.endswith("dagora: interrupted\n")
    for site in ("east", "north", "west"):
        assert ended[site].code == 1
        assert only_line(ended[site]) == "party 'coordinator' ended the run: it was interrupted"
    assert list(tmp_path.iterdir()) == []
