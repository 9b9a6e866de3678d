import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.garbling.circuit import AND, XOR
from dagora.parties.crypto.garbling.slots import MOST_INSTANCES, slots_of
from dagora.parties.crypto.garbling.streaming import (
    MESSAGE_BYTES,
    receive_bytes,
    receive_words,
    send_bytes,
    send_words,
    table_messages,
)
from dagora.parties.transport.in_memory import memory_network
from tests.parties.crypto.garbled import gates, random_circuit


@pytest.mark.parametrize("instances", [0, 1, 7, 1024, 3000])
@pytest.mark.parametrize("n_gates", [0, 1, 40, 3000])
@pytest.mark.parametrize("capacity", [MOST_INSTANCES, 5000])
def test_every_gate_of_every_instance_once_and_in_order(n_gates, instances, capacity):
    circuit = random_circuit(np.random.default_rng(n_gates), 5, n_gates, 3, window=60)
    slots = slots_of(circuit)
    done = {}
    total = 0
    for message in table_messages(slots, instances, capacity):
        filled = 0
        for s in message.stretches:
            assert done.get((s.start, s.stop), 0) == s.first <= s.last
            assert s.offset == filled
            done[s.start, s.stop] = s.last
            filled += (s.stop - s.start) * int(np.count_nonzero(circuit.op[s.first : s.last] == AND))
        assert filled == message.n_tables <= capacity
        total += filled
    assert total == slots.n_and * instances
    assert set(done.values()) <= {n_gates}
    covered = np.zeros(instances, dtype=int)
    for start, stop in done:
        covered[start:stop] += 1
    assert (covered == 1).all()


def test_messages_are_full_but_for_the_last():
    slots = slots_of(gates(2, [(AND, 0, 1), (XOR, 2, 1), (AND, 2, 3)], [4]))
    sizes = [message.n_tables for message in table_messages(slots, 40_000, 10_000)]
    assert sum(sizes) == 80_000
    assert min(sizes[:-1]) > 10_000 - MOST_INSTANCES


@pytest.fixture
def channels():
    network = memory_network(["a", "b"])
    return [Channel.to_peer(network[name], None, "test") for name in "ab"]


def test_long_arrays_are_cut(channels):
    a, b = channels
    words = np.arange(MESSAGE_BYTES // 8 * 2 + 5, dtype=np.uint64)
    send_words(a, "w", words)
    assert np.array_equal(receive_words(b, "w", (len(words),)), words)
    assert a.transport.ledger.books().total.messages_sent == 3


def test_nothing_is_no_message(channels):
    a, b = channels
    send_words(a, "w", np.empty((3, 0, 2), dtype=np.uint64))
    assert receive_words(b, "w", (3, 0, 2)).shape == (3, 0, 2)
    assert a.transport.ledger.books().total.messages_sent == 0


def test_wrong_size_is_refused(channels):
    a, b = channels
    send_bytes(a, "w", bytes(15))
    with pytest.raises(ProtocolError, match="party 'a', 'test/w': 15 bytes came where 16 were expected"):
        receive_bytes(b, "w", 16)
