"""Owners of one binary table for tests: rows in sequences of their own, wires that hear everything."""

import numpy as np

from dagora.base.errors import DisagreementError
from dagora.parties.replicated.group_k2 import group_k2
from dagora.parties.replicated.terms import GroupProposal
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.transport import reason_to_tell
from dagora.parties.vertical.private_k2 import PartyData
from tests.parties.network import start
from tests.parties.vertical.central import binary_table
from tests.parties.vertical.owners import LONG
from tests.parties.wiretap import Wire

NAMES = ("ann", "bob", "cleo", "dora", "emil")


def holdings(data, counts, *, seed=0, keys="row"):
    """Each owner's columns, as many as `counts` says, in a sequence of rows of its own; keys begin with `keys`."""
    rng = np.random.default_rng(seed)
    names = [f"x{column}" for column in range(data.shape[1])]
    ends = np.cumsum(counts)
    assert ends[-1] == len(names)
    found = []
    for last, count in zip(ends, counts, strict=True):
        sequence = rng.permutation(len(data))
        table = binary_table(data).select(names[last - count : last]).take(sequence)
        found.append(PartyData(table, [f"{keys}-{row}" for row in sequence]))
    return found


def wires(count=3, *, die=None, change=None):
    """Owners in memory, all with all; `die` and `change` are by name (see `Wire`)."""
    network = memory_network(NAMES[:count], timeout=LONG)
    die, change = die or {}, change or {}
    return [Wire(network[name], die.get(name, ""), change.get(name)) for name in NAMES[:count]]


def play(wire, function):
    """An owner's session, which ends as `dagora.parties.vertical.private_session.close_at_end` does."""
    try:
        return function(wire)
    except DisagreementError:
        wire.inner.close()
        raise
    except BaseException as error:
        wire.inner.close(reason_to_tell(error))
        raise


def begin(parties, brought, proposals, random=None):
    """All at work; `proposals` is one for the host, or one for each."""
    if isinstance(proposals, GroupProposal):
        proposals = [proposals, *[GroupProposal(min_rows=proposals.min_rows)] * (len(parties) - 1)]
    owners = [wire.name for wire in parties]
    extra = {} if random is None else {"random": random}
    return [
        start(play, wire, lambda wire, data=data, wish=wish: group_k2(wire, owners, data, wish, **extra))
        for wire, data, wish in zip(parties, brought, proposals, strict=True)
    ]


def learn(parties, brought, proposals, **options):
    return [party.result(LONG) for party in begin(parties, brought, proposals, **options)]


def errors(parties, brought, proposals):
    return [party.exception(LONG) for party in begin(parties, brought, proposals)]
