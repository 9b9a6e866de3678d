"""The local socket: only who knows the token is heard, nothing waits for ever, and errors are one line."""

import re
import socket
import threading
from pathlib import Path

import pytest

from dagora.base.errors import OptionError, ProtocolError
from dagora.parties.horizontal.flower import local_socket
from dagora.parties.horizontal.flower.client_app import pass_on
from dagora.parties.horizontal.flower.daemon import Daemon
from dagora.parties.horizontal.flower.local_socket import (
    DaemonAddress,
    make_token,
    parse_daemon_address,
    read_token,
    visit,
)
from dagora.parties.horizontal.flower.relay import Hello, Welcome, decode_welcome, encode_hello
from tests.parties.network import eventually, hung_up_on

TOKEN = b"t" * 64
HELLO = encode_hello(Hello(bytes(16), ("other",)))


@pytest.fixture(params=["file", "port"])
def place(request, tmp_path):
    return DaemonAddress(path=str(tmp_path / "site.sock")) if request.param == "file" else DaemonAddress()


def test_a_visit(place):
    with Daemon("a", place, TOKEN) as daemon:
        assert decode_welcome(visit(daemon.place, TOKEN, HELLO, 5.0), "x") == Welcome("a", joins=False)
        if place.path:
            assert Path(place.path).stat().st_mode & 0o777 == 0o600
    assert not place.path or not Path(place.path).exists()
    with pytest.raises(
        ProtocolError, match=r"the site's daemon at .* does not answer: (no such file|connection refused)"
    ):
        visit(daemon.place, TOKEN, HELLO, 5.0)


def test_who_does_not_know_the_token_is_not_heard(place):
    heard = []
    with Daemon("a", place, TOKEN, on_refusal=heard.append) as daemon:
        with pytest.raises(ProtocolError, match="has another token"):
            visit(daemon.place, b"u" * 64, HELLO, 5.0)
        eventually(lambda: heard)
        assert re.fullmatch(r"refused a visitor( from 127.0.0.1:\d+)?: it does not know the token", heard[0])


def test_a_listener_that_does_not_know_the_token_is_told_nothing(tmp_path):
    """Another program took the daemon's port: it does not get the token, and no message."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        got = []

        def pretend() -> None:
            caller, _ = server.accept()
            with caller:
                caller.sendall(local_socket.GREETING + bytes(32))
                got.append(caller.recv(1000))
                caller.sendall(bytes(32))
                got.append(caller.recv(1000))

        thread = threading.Thread(target=pretend, daemon=True)
        thread.start()
        with pytest.raises(ProtocolError, match="has another token"):
            visit(DaemonAddress(port=server.getsockname()[1]), TOKEN, HELLO, 5.0)
        thread.join(10.0)
    assert TOKEN not in got[0]
    assert got[1] == b""


def test_a_proof_cannot_be_sent_back(place, monkeypatch):
    """A relay's proof is no daemon's proof, for the same numbers."""
    with Daemon("a", place, TOKEN) as daemon:
        proof = local_socket._proof
        monkeypatch.setattr(local_socket, "_proof", lambda token, role, nonces: proof(token, b"same", nonces))
        assert visit(daemon.place, TOKEN, HELLO, 5.0)
    assert proof(TOKEN, b"relay", b"n") != proof(TOKEN, b"daemon", b"n")


@pytest.mark.parametrize("said", [b"", b"x", b"x" * 64], ids=["nothing", "a byte", "a wrong proof"])
def test_a_silent_or_wrong_caller_does_not_keep_others_out(place, said, monkeypatch):
    monkeypatch.setattr("dagora.parties.transport.door.FIRST_BYTE_SECONDS", 0.3)
    monkeypatch.setattr("dagora.parties.transport.door.HELLO_SECONDS", 0.3)
    heard = []
    with Daemon("a", place, TOKEN, on_refusal=heard.append) as daemon:
        callers = []
        for _ in range(8):
            caller = socket.socket(daemon.place.family)
            caller.connect(daemon.place.address)
            caller.sendall(said)
            callers.append(caller)
        assert visit(daemon.place, TOKEN, HELLO, 5.0)
        eventually(lambda: all(map(hung_up_on, callers)))
        for caller in callers:
            caller.close()
    assert len(heard) == 2, "the first, and that there were seven more"
    assert "refused 7 more" in heard[1] or "7 times more" in heard[1]


def test_a_frame_that_is_too_long_is_refused_before_it_is_read(place, monkeypatch):
    heard = []
    monkeypatch.setattr(local_socket, "MAX_FRAME", 50)
    with Daemon("a", place, TOKEN, on_refusal=heard.append) as daemon:
        with pytest.raises(ProtocolError, match="does not answer"):
            visit(daemon.place, TOKEN, bytes(51), 5.0)
        eventually(lambda: heard == ["refused a visit: a message of 51 bytes was announced; the limit is 50"])


def test_the_socket_file_of_a_killed_daemon_is_taken_over_and_no_other(tmp_path):
    place = DaemonAddress(path=str(tmp_path / "s"))
    abandoned = socket.socket(socket.AF_UNIX)
    abandoned.bind(place.path)
    abandoned.close()
    with Daemon("a", place, TOKEN) as daemon:
        with pytest.raises(OptionError, match="another daemon does; choose another place"):
            Daemon("b", place, TOKEN)
        assert visit(daemon.place, TOKEN, HELLO, 5.0)
    (tmp_path / "s").write_text("mine")
    with pytest.raises(OptionError, match="cannot serve at"):
        Daemon("a", place, TOKEN)
    assert (tmp_path / "s").read_text() == "mine"


@pytest.mark.parametrize("text", ["0.0.0.0:7200", "example.org:80", "127.0.0.1:70000", "", "x" * 101, ":80"])
def test_places_elsewhere_are_refused(text):
    with pytest.raises(OptionError):
        parse_daemon_address(text)


def test_tokens(tmp_path):
    file = tmp_path / "token"
    make_token(file)
    token = read_token(file)
    assert len(token) == 64
    assert file.stat().st_mode & 0o777 == 0o600
    make_token(file)
    assert read_token(file) == token, "an existing one is kept"
    file.chmod(0o644)
    with pytest.raises(OptionError, match="everybody can read this token"):
        read_token(file)
    file.chmod(0o600)
    file.write_text("short")
    with pytest.raises(OptionError, match="at least 32 characters"):
        read_token(file)
    with pytest.raises(OptionError, match="cannot read the token: No such file"):
        read_token(tmp_path / "none")


def test_the_app_goes_where_its_node_says(tmp_path):
    file = tmp_path / "token"
    make_token(file)
    place = DaemonAddress(path=str(tmp_path / "s"))
    config = {"dagora-address": place.path, "dagora-token": str(file)}
    with Daemon("a", place, read_token(file)):
        assert decode_welcome(pass_on(config, HELLO, 5.0), "x").site == "a"
    for missing in config:
        with pytest.raises(OptionError, match="in its node configuration"):
            pass_on({key: value for key, value in config.items() if key != missing}, HELLO, 5.0)
