"""The line between two parties: who is meant, what is expected, and tables in pieces."""

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.crypto import channel as channel_module
from dagora.parties.crypto.channel import Channel
from dagora.parties.transport.in_memory import memory_network
from tests.parties.pairs import traffic, wires


def test_the_only_peer_or_the_named_one():
    network = memory_network(["a", "b", "c"])
    assert Channel.to_peer(network["a"], "c", "x").peer == "c"
    with pytest.raises(ProtocolError, match="two parties compute together, not 3: name the peer"):
        Channel.to_peer(network["a"], None, "x")


def test_what_is_not_expected_is_refused_with_peer_and_step():
    pair = wires()
    host, guest = (Channel.to_peer(wire, None, "try") for wire in pair)
    host.send("size", n="three")
    with pytest.raises(ProtocolError, match=r"^party 'host', 'try/size': 'n' must be an integer$") as caught:
        guest.receive("size", {"n": int})
    assert caught.value.party == "host"
    with pytest.raises(ProtocolError, match=r"^party 'b', 'try/size': it is too much$") as caught:
        host.refuse("size", "it is too much")
    assert caught.value.party == "b"


@pytest.mark.parametrize("count", [0, 1, 10, 11, 25])
def test_tables_travel_in_pieces(monkeypatch, count):
    monkeypatch.setattr(channel_module, "ROWS", 10)
    pair = wires()
    host, guest = (Channel.to_peer(wire, None, "try") for wire in pair)
    table = np.arange(3 * count, dtype=np.uint64).reshape(count, 3)
    host.send_rows("table", table)
    assert len(traffic(pair[0])) == -(-count // 10)
    pieces = list(guest.receive_rows("table", count, 3))
    np.testing.assert_array_equal(np.concatenate([table[:0], *pieces]), table)


def test_a_table_of_another_size_is_refused():
    pair = wires()
    host, guest = (Channel.to_peer(wire, None, "try") for wire in pair)
    host.send_rows("table", np.zeros((4, 3), dtype=np.uint64))
    with pytest.raises(ProtocolError, match=r"'rows' must be an array of uint64 of shape \(5, 3\)"):
        list(guest.receive_rows("table", 5, 3))
