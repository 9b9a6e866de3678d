"""A round is a turn from sending to receiving, however many messages go each way."""

from dagora.parties.transport.in_memory import memory_network
from dagora.parties.vertical.round_counter import RoundCounter


def test_messages_in_one_direction_are_one_turn():
    network = memory_network(["a", "b"])
    line = RoundCounter(network["a"])
    for tag in "123":
        network["b"].send("a", tag, b"")
    line.receive("b", "1")
    assert line.rounds == 0
    line.send("b", "x", b"")
    line.send("b", "y", b"")
    line.receive("b", "2")
    line.receive("b", "3")
    assert line.rounds == 1
