"""Two owners of one binary table for tests: rows in sequences of their own, and rows the other does not have."""

import numpy as np

from dagora.parties.transport.in_memory import memory_network
from dagora.parties.vertical.agreement import TermsProposal
from dagora.parties.vertical.private_k2 import PartyData, private_k2
from tests.parties.network import PATIENCE
from tests.parties.pairs import futures, wires
from tests.parties.vertical.central import binary_table

# The first run compiles kernels.
LONG = 8 * PATIENCE


def owners(data, n_host, *, seed=0, extra=3):
    """Holdings of the first columns and of the others."""
    rng = np.random.default_rng(seed)
    names = [f"x{column}" for column in range(data.shape[1])]
    holdings = []
    for letter, columns in (("h", names[:n_host]), ("g", names[n_host:])):
        more = rng.integers(0, 2, (extra, data.shape[1]))
        table = binary_table(np.concatenate([data, more])).select(columns)
        keys = [f"row-{i}" for i in range(len(data))] + [f"{letter}-{i}" for i in range(extra)]
        sequence = rng.permutation(len(keys))
        holdings.append(PartyData(table.take(sequence), [keys[i] for i in sequence]))
    return holdings


def pair(**options):
    network = memory_network(["host", "b"], timeout=LONG)
    return wires([network["host"], network["b"]], **options)


def begin(parties, holdings, proposal, expected=None, roles=("host", "guest")):
    """Both at work; what they answer comes with `.result(LONG)`."""
    host, guest = holdings
    agreeing = TermsProposal(parameters=proposal.parameters, security=proposal.security)
    return futures(
        parties,
        lambda wire: private_k2(wire, roles[0], host, proposal),
        lambda wire: private_k2(wire, roles[1], guest, expected or agreeing),
    )


def learn(parties, holdings, proposal):
    return [party.result(LONG) for party in begin(parties, holdings, proposal)]


def errors(parties, holdings, proposal, expected=None, roles=("host", "guest")):
    return [party.exception(LONG) for party in begin(parties, holdings, proposal, expected, roles)]


def edges(learned):
    return {(int(tail[1:]), int(head[1:])) for tail, head in learned.outcome.graph.edges}


def written(order):
    return ",".join(f"x{column}" for column in order)
