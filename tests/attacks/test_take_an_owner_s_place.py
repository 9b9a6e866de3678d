"""A member of the authority, or the host itself, wants to choose who computes on an owner's columns."""

import contextlib

import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.replicated.meeting import TAG, join_owners
from dagora.parties.transport.listener import Listener
from tests.parties.network import PATIENCE
from tests.parties.network import start as begin_thread

OWNERS = ["host", "b", "c"]


def test_a_member_that_listens_in_the_hosts_place(credentials):
    """Before, an owner that did not say --owners took part with whoever listened, under any name."""
    with Listener(credentials["stranger"], ["c"]) as listener:
        there = begin_thread(listener.accept, PATIENCE)
        joining = begin_thread(join_owners, credentials["c"], OWNERS, "127.0.0.1", listener.port, wait=2.0)
        with pytest.raises(ProtocolError, match="it is party 'stranger', not 'host'"):
            joining.result(PATIENCE)
        listener.close()
        with contextlib.suppress(Exception):
            there.result(PATIENCE).close()


@pytest.mark.parametrize("told", [["host", "stranger", "c"], ["host", "c", "b"], ["host", "b", "c", "d"]])
def test_a_host_that_chooses_others_that_compute(credentials, told):
    """Two of the three that compute see every column: a host that names its helper has them all."""
    with Listener(credentials["host"], ["c"]) as listener:
        joining = begin_thread(
            join_owners, credentials["c"], OWNERS, "127.0.0.1", listener.port, wait=PATIENCE
        )
        with listener.accept() as transport:
            Channel(transport, "c", TAG).send("roster", owners=told)
            with pytest.raises(ProtocolError, match="its owners are not host, b, c"):
                joining.result(PATIENCE)


def test_every_owner_says_who_the_owners_are(run, tmp_path):
    line = ("--data", tmp_path / "none.csv", "--key", "ID", "--certificates", tmp_path)
    joined = run("private", "group", "join", *line, "--connect", "127.0.0.1:1")
    assert joined.code == 2
    assert "--owners must name all owners" in joined.err
