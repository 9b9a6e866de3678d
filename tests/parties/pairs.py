"""Two parties in two threads on wires that hear everything, and seeds without the curve where speed matters."""

import hashlib

import numpy as np
from scipy.stats import chisquare

from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.transport import reason_to_tell
from tests.parties.network import PATIENCE, start
from tests.parties.wiretap import Wire


def wires(transports=None, *, die=("", ""), change=(None, None)):
    """Two parties, 'host' and 'b', in memory unless transports are given."""
    if transports is None:
        network = memory_network(["host", "b"], timeout=10.0)
        transports = [network["host"], network["b"]]
    return [Wire(inner, d, c) for inner, d, c in zip(transports, die, change, strict=True)]


def play(wire, function):
    """A party's session: whatever goes wrong, it tells the peer as much as it may."""
    try:
        return function(wire)
    except BaseException as error:
        wire.inner.close(reason_to_tell(error))
        raise


def futures(pair, first, second):
    return [start(play, wire, function) for wire, function in zip(pair, (first, second), strict=True)]


def both(pair, first, second):
    """Run both sides to the end; the first error is raised."""
    return [future.result(PATIENCE) for future in futures(pair, first, second)]


def endings(pair, first, second):
    """How both sides ended that should not have ended well."""
    return [future.exception(PATIENCE) for future in futures(pair, first, second)]


def traffic(wire):
    return [(tag, len(payload)) for _, tag, payload in wire.sent]


def replace(step, new):
    """A change of every message whose tag ends in this step."""
    return lambda to, tag, payload: new(payload) if tag.endswith(step) else payload


def seeded(seed):
    """A source of bytes for tests that must repeat themselves."""
    return np.random.default_rng(seed).bytes


def uniformity(content):
    """The p-value of all bytes being equally likely."""
    return chisquare(np.bincount(np.frombuffer(content, dtype=np.uint8), minlength=256)).pvalue


def deal_seeds(monkeypatch):
    """Seeds from a dealer that both sides ask: no security, no curve."""
    from dagora.parties.crypto.transfer import checked_transfer, oblivious_transfer

    def seed(i, bit):
        return hashlib.sha256(b"%d %d" % (i, bit)).digest()[:16]

    def send(channel, count, *, random):
        return [(seed(i, 0), seed(i, 1)) for i in range(count)]

    def receive(channel, choices, *, random):
        return [seed(i, bit) for i, bit in enumerate(choices)]

    for module in (oblivious_transfer, checked_transfer):
        monkeypatch.setattr(module, "send_seeds", send)
        monkeypatch.setattr(module, "receive_seeds", receive)
