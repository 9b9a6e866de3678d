"""Parties as processes: all end well, or all end; nobody is left behind."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import dagora
from dagora.base.errors import ProtocolError
from dagora.parties.processes import party_processes
from dagora.parties.processes.party_processes import PartyProcesses, ProcessEnd
from dagora.parties.transport.listener import Listener
from tests.parties.network import PATIENCE, eventually
from tests.parties.processes.faults import alive, kill, process_ids, run_all

SOURCE = str(Path(dagora.__file__).resolve().parent.parent)


@pytest.fixture(autouse=True)
def long_grace(monkeypatch):
    """Who ends when told to is never killed, and is heard to the end, however slow the machine."""
    monkeypatch.setattr(party_processes, "GRACE_SECONDS", PATIENCE)


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Children that run a script of ours in place of the command."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), SOURCE]))

    def write(text: str) -> PartyProcesses:
        # The same lifeline as in the command, other work.
        header = "import os, sys, threading, time\nfrom dagora.parties.processes.child import watch\n"
        header += "threading.Thread(target=watch, args=(0,), daemon=True).start()\n"
        (tmp_path / "party_script.py").write_text(header + textwrap.dedent(text))
        return PartyProcesses(module="party_script")

    return write


def test_commands_run_side_by_side(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    ended = run_all({"a": ["--version"], "b": ["--help"]})
    assert ended["a"] == ProcessEnd("a", 0, f"dagora, version {dagora.__version__}\n", "")
    assert ended["b"].out.startswith("Usage: dagora ")


def test_a_command_that_refuses_is_quoted_in_one_line(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    with pytest.raises(ProtocolError) as caught:
        run_all({"b": ["learn", "no-such-file.csv"]})
    assert str(caught.value) == "party 'b' failed (exit code 2): no-such-file.csv: there is no such file"
    assert caught.value.party == "b"


def test_when_one_fails_the_others_are_ended(script, monkeypatch):
    give_grace = PartyProcesses._give_grace

    def give_little(parties):
        with monkeypatch.context() as patch:
            patch.setattr(party_processes, "GRACE_SECONDS", 0.5)
            give_grace(parties)

    monkeypatch.setattr(PartyProcesses, "_give_grace", give_little)
    lines = []
    with script(
        """
        if sys.argv[1] == "fail":
            sys.exit("dagora: error: the columns differ")
        print("at work", file=sys.stderr)
        time.sleep(100)
        """
    ) as parties:
        parties._on_line = lambda name, line: lines.append((name, line))
        parties.start("slow", ["work"])
        parties.wait_for_line("slow", "at work", PATIENCE)
        parties.start("quick", ["fail"])
        ids = process_ids(parties)
        with pytest.raises(
            ProtocolError, match=r"^party 'quick' failed \(exit code 1\): the columns differ$"
        ):
            parties.wait(PATIENCE)
        assert not any(map(alive, ids.values()))
        assert parties.results()["slow"].code == -signal.SIGTERM
    assert lines == [("slow", "at work"), ("quick", "dagora: error: the columns differ")]


def test_a_party_may_be_lost_where_that_is_tolerated(script):
    with script(
        """
        print(f"port {1234}", file=sys.stderr)
        time.sleep(100 if sys.argv[1] == "lost" else 0.5)
        """
    ) as parties:
        parties.start("a", ["lost"])
        parties.start("b", ["stay"])
        assert parties.wait_for_line("a", r"port (\d+)", PATIENCE)[1] == "1234"
        kill(parties, "a")
        ended = parties.wait(PATIENCE, tolerate=["a"])
    assert (ended["a"].code, ended["b"].code) == (-signal.SIGKILL, 0)
    assert ended["a"].complaint == "party 'a' failed (signal 9): port 1234"


def test_a_start_that_fails_or_takes_too_long_is_reported(script):
    with script("time.sleep(100) if sys.argv[1:] else sys.exit('no room')") as parties:
        parties.start("a", [])
        with pytest.raises(ProtocolError, match=r"party 'a' failed \(exit code 1\): no room"):
            parties.wait_for_line("a", "port", PATIENCE)
        parties.start("b", ["slow"])
        with pytest.raises(ProtocolError, match=r"party 'b' did not report its start within 0\.1 s"):
            parties.wait_for_line("b", "port", 0.1)
        with pytest.raises(ProtocolError, match="party 'b' was started already"):
            parties.start("b", [])


def test_a_run_that_takes_too_long_is_ended(script):
    with script("time.sleep(100)") as parties:
        parties.start("a", [])
        with pytest.raises(ProtocolError, match=r"the run was ended after 0\.2 s: 'a' still at work"):
            parties.wait(0.2)
        process = process_ids(parties)["a"]
    assert not alive(process)


def test_a_lot_of_output_does_not_block(script):
    with script(
        "print('x' * 99 + '\\n', end='', flush=True) or [print('y' * 99) for _ in range(15000)]"
    ) as parties:
        parties.start("a", [])
        assert len(parties.wait(PATIENCE)["a"].out) == 1_500_100


def test_ctrl_c_ends_all_even_the_stubborn_and_their_workers(script, monkeypatch):
    monkeypatch.setattr(party_processes, "GRACE_SECONDS", 0.3)
    with contextlib.suppress(KeyboardInterrupt), script(STUBBORN) as parties:
        parties.start("a", [])
        worker = int(parties.wait_for_line("a", r"worker (\d+)", PATIENCE)[1])
        leader = process_ids(parties)["a"]
        assert alive(worker)
        raise KeyboardInterrupt
    eventually(lambda: not alive(worker) and not alive(leader))


STUBBORN = """
import signal, subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN)
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], stdin=subprocess.DEVNULL)
print("worker", worker.pid, file=sys.stderr, flush=True)
time.sleep(100)
"""


def test_children_die_with_a_parent_that_is_killed(script, tmp_path):
    script(STUBBORN)
    parent = f"""
from dagora.parties.transport.listener import Listener
from dagora.parties.processes.party_processes import PartyProcesses
parties = PartyProcesses(module="party_script")
for name in "ab":
    parties.start(name, [])
    print(parties._parties[name].process.pid, parties.wait_for_line(name, r"worker (\\d+)", {PATIENCE})[1], flush=True)
import time; time.sleep(100)
"""
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        ids = [int(word) for _ in range(2) for word in process.stdout.readline().split()]
        assert len(ids) == 4
        assert all(map(alive, ids))
        process.kill()
    eventually(lambda: not any(map(alive, ids)))


def test_a_real_party_killed_in_the_middle_of_a_message_is_noticed(script, credentials):
    """No goodbye is possible here: the system closes the sockets."""
    with (
        Listener(credentials["host"], ["b"]) as listener,
        script(
            """
            from dagora.parties.transport.certificates import Credentials
            from dagora.parties.transport.tcp import connect
            b = connect(Credentials.load(sys.argv[1]), "127.0.0.1", int(sys.argv[2]), peer="host", wait=60)
            b.send("host", "ready", b"")
            while True:
                b.send("host", "stream", bytes(50_000_000))
            """
        ) as parties,
    ):
        parties.start("b", [str(credentials["b"].key.parent), str(listener.port)])
        with listener.accept(PATIENCE) as host:
            host.receive("b", "ready", PATIENCE)
            host.receive("b", "stream", PATIENCE)
            kill(parties, "b")
            with pytest.raises(ProtocolError, match=r"^the connection to party 'b' was lost"):
                [host.receive("b", "stream", PATIENCE) for _ in range(100)]


def test_the_streams_of_a_party_that_ended_are_closed():
    process = subprocess.Popen(
        [sys.executable, "-c", "print('done')"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    party = party_processes._PartyProcess("a", process, None)
    process.wait()
    assert party.end().out == "done\n"
    assert all(stream.closed for stream in (process.stdin, process.stdout, process.stderr))
