"""The app that a SuperNode runs only carries bytes: it reads nothing of them, and has nothing to answer with."""

import secrets
import socket
import subprocess
import sys
from contextlib import contextmanager
from functools import partial

import pytest

from dagora.parties.horizontal.flower.client_app import pass_on
from dagora.parties.horizontal.flower.daemon_caller import DaemonCaller
from dagora.parties.horizontal.flower.local_socket import make_token, read_token
from dagora.parties.transport.door import ListenerDoor
from tests.parties.network import PATIENCE, start


@contextmanager
def daemon_that_answers(folder, answer):
    """The configuration of a SuperNode, and what its daemon will be told."""
    token = folder / "token"
    make_token(token)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)

        def hear():
            line, door = None, ListenerDoor(server, partial(DaemonCaller.accept, token=read_token(token)))
            while line is None:
                line = next(iter(door.look(PATIENCE)), None)
            with line.socket:
                line.allow(PATIENCE)
                told = line.receive()
                line.send(answer)
                return told

        address = f"127.0.0.1:{server.getsockname()[1]}"
        yield {"dagora-address": address, "dagora-token": str(token)}, start(hear)


@pytest.mark.parametrize("size", [0, 1, 200_000])
def test_bytes_go_in_and_come_out_as_they_are(tmp_path, size):
    """Whatever they are: these are no messages of ours."""
    asked, answered = secrets.token_bytes(size), secrets.token_bytes(size + 3)
    with daemon_that_answers(tmp_path, answered) as (config, told):
        assert pass_on(config, asked, 5.0) == answered
        assert told.result(PATIENCE) == asked


def test_the_app_knows_no_protocol():
    """It loads what it needs for a socket: no rows, no keys, no plan, no sums."""
    code = "import sys, dagora.parties.horizontal.flower.client_app; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    ours = {name for name in loaded.stdout.split() if name.startswith("dagora.parties.")}
    flower = "dagora.parties.horizontal.flower"
    assert ours == {"dagora.parties.horizontal", flower, f"{flower}.client_app", f"{flower}.local_socket"}
    assert not {"numpy", "cryptography"} & set(loaded.stdout.split())
