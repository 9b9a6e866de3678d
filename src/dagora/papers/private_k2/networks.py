"""Rows sampled from networks: asia, alarm reduced to two levels per variable, and random binary ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.formats.registry import read_network
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork
from dagora.network.sample import sample_network
from dagora.papers.reference_data import reference_file

if TYPE_CHECKING:
    from dagora.base.events import Observer
    from dagora.learners.result import Result
    from dagora.parties.vertical.agreement import TermsProposal

RANDOM = "random"
# By hand.
RANDOM_NODES, RANDOM_PARENTS = 20, 3


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """Rows bits[row, column], the graph they come from, and a topological order of it.

    Of columns with more than two levels `bits` has the codes.
    """

    truth: DAG
    bits: NDArray[np.uint8]
    order: tuple[int, ...]

    @property
    def written_order(self) -> str:
        """The order as an option."""
        return ",".join(self.truth.nodes[column] for column in self.order)

    def owned_by(self, side: int) -> Table:
        """The columns of host (0) or guest (1), every other one, with the row's number as the key `ID`."""
        names = self.truth.nodes[side::2]
        rows = len(self.bits)
        keys = Variable("ID", Kind.DISCRETE, tuple(str(row) for row in range(rows)))
        binary = (Variable(name, Kind.DISCRETE, ("0", "1")) for name in names)
        columns = (self.bits[:, self.truth.nodes.index(name)].astype(np.uint16) for name in names)
        return Table(Schema([keys, *binary]), (np.arange(rows, dtype=np.uint16), *columns))


def session_in_memory(rows: NetworkRows, proposal: TermsProposal, on_event: Observer) -> Result:
    """A session of two owners in this process; all columns count as binary, also one that is constant."""
    from dagora.data.keys import split_table
    from dagora.parties.vertical.private_k2 import PartyData
    from dagora.parties.vertical.private_session import run_both_parties

    host, guest = (PartyData(*split_table(rows.owned_by(side), "ID")) for side in (0, 1))
    return run_both_parties(host, guest, proposal, on_event=on_event)


def write_owner(rows: NetworkRows, side: int, file: Path) -> Path:
    """Write the columns of host (0) or guest (1), every other one with the key `ID`, to a file."""
    names = rows.truth.nodes[side::2]
    cells = np.full((len(rows.bits), 2 * len(names)), ord(","), dtype=np.uint8)
    cells[:, 1::2] = rows.bits[:, side::2] + ord("0")
    lines = [f"{row}{text.tobytes().decode()}" for row, text in enumerate(cells)]
    file.write_text("\n".join([",".join(["ID", *names]), *lines]) + "\n", encoding="utf-8")
    return file


def draw_rows(name: str, rows: int, seed: int) -> NetworkRows:
    """Sample a network, or a random one.

    >>> draw_rows("random", 50, 1).bits.shape
    (50, 20)
    """
    return sample_rows(random_network(seed) if name == RANDOM else known_network(name), rows, seed)


def sample_rows(network: DiscreteNetwork, rows: int, seed: int) -> NetworkRows:
    """Sample a network; a variable of more than two levels is cut in the middle of them."""
    table = sample_network(network, rows, seed)
    halves = [max(1, variable.cardinality // 2) for variable in table.schema]
    bits = np.column_stack([table.codes(k) >= half for k, half in enumerate(halves)]).astype(np.uint8)
    return NetworkRows(network.graph, bits, network.graph.order_indices)


@cache
def known_network(name: str) -> DiscreteNetwork:
    """A network of the reference data."""
    network = read_network(reference_file(f"networks/{name}.bif.gz"))
    if not isinstance(network, DiscreteNetwork):
        raise DataError(f"the network {name} is not discrete")
    return network


def random_network(
    seed: int, nodes: int = RANDOM_NODES, between: tuple[float, float] = (0.0, 1.0)
) -> DiscreteNetwork:
    """Binary variables with up to three parents each, all probabilities uniform on an interval."""
    rng = np.random.default_rng(seed)
    names = tuple(f"x{k}" for k in range(nodes))
    parents = [
        sorted(rng.choice(child, min(child, int(rng.integers(RANDOM_PARENTS + 1))), replace=False).tolist())
        for child in range(nodes)
    ]
    graph = DAG.from_parents(names, parents)
    tables = {}
    for name in names:
        ones = rng.uniform(*between, [2] * len(graph.parents(name)))
        tables[name] = np.stack([1 - ones, ones], axis=-1)
    return DiscreteNetwork(graph, dict.fromkeys(names, ("0", "1")), tables)
