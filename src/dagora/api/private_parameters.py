"""Parameters of a private network outside of the protocol: in a result, as a network, as a file of shares.

A result of `parameters="open"` holds under `settings["tables"]` what its party knows: the opened tables of
families with columns of both, rounded to three digits; its own families' tables, which it did not send; the
names of levels; and which tables were withheld or stay with the other party. A network needs a table for
every node, so `opened_network` is that of the nodes whose tables, and whose ancestors' tables, this party
has: their distribution is the one of the whole network.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.base.errors import GraphError
from dagora.base.files import json_text
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork
from dagora.parties.vertical.costs import widths_for
from dagora.parties.vertical.parameter_circuits import THOUSAND

if TYPE_CHECKING:
    from dagora.learners.result import Result
    from dagora.parties.vertical.private_k2 import PrivateOutcome


def tables_of(learned: PrivateOutcome) -> dict[str, Any]:
    """The parameters for the settings of a result."""
    terms, found = learned.terms, learned.parameters
    names = terms.names
    opened = {names[family[-1]]: table for family, table in found.opened.items()}
    known = {family[-1] for family in (*found.opened, *found.own)}
    return {
        "opened": {
            child: (table / THOUSAND).tolist() for child, table in opened.items() if table is not None
        },
        "own": {names[family[-1]]: table.tolist() for family, table in found.own.items()},
        "withheld": [child for child, table in opened.items() if table is None],
        "with_the_other_party": [name for node, name in enumerate(names) if node not in known],
        "levels": {names[column]: list(levels) for column, levels in sorted(found.levels.items())},
    }


def opened_network(result: Result) -> DiscreteNetwork:
    """The network of what a party knows after `parameters="open"`.

    It has every node whose table was opened or is the party's own, if that holds for its ancestors too.
    Opened tables are brought to sum to 1.
    """
    tables = result.settings.get("tables")
    if not isinstance(tables, dict):
        raise GraphError("the result has no parameters: they are there after parameters='open'")
    graph = result.graph
    if not isinstance(graph, DAG):
        raise GraphError("a private network is a DAG")
    known = {**tables["own"], **tables["opened"]}
    kept: list[str] = []
    for node in graph.order:
        if node in known and all(parent in kept for parent in graph.parents(node)):
            kept.append(node)
    if not kept:
        raise GraphError(
            "no network can be made of what was opened: the first variables' tables stay with the other party"
        )
    nodes = [node for node in graph if node in kept]
    sub = DAG(nodes, [(tail, head) for tail, head in graph.edges if head in kept])
    levels = {node: tuple(tables["levels"][node]) for node in nodes}
    arrays = {node: np.array(known[node], dtype=np.float64) for node in nodes}
    complete = {node: table / table.sum(axis=-1, keepdims=True) for node, table in arrays.items()}
    return DiscreteNetwork(sub, levels, complete, "opened")


def left_out(result: Result, network: DiscreteNetwork) -> list[str]:
    """The nodes of a result that its opened network lacks."""
    return [node for node in result.graph if node not in network.graph.nodes]


def shares_text(role: str, learned: PrivateOutcome) -> str:
    """A party's shares as JSON: of each family its variables, parents first, their levels, and the shares.

    Shares are in the sequence in which the first variable's levels alternate fastest; a count is the sum of
    both parties' shares modulo `modulus`.
    """
    terms = learned.terms
    rows = int(learned.outcome.stats["rows"])
    families = [
        {
            "variables": [terms.names[member] for member in family],
            "levels": [terms.levels[member] for member in family],
            "shares": words.tolist(),
        }
        for family, words in learned.parameters.shares.items()
    ]
    content = {
        "role": role,
        "terms": terms.digest().hex(),
        "rows": rows,
        "modulus": 1 << widths_for(terms, rows).bits,
        "families": families,
    }
    return json_text(content) + "\n"


def shares_file(path: str | Path, role: str) -> Path:
    """The file of one party where both are simulated.

    >>> shares_file("shares.json", "guest").name
    'shares.guest.json'
    """
    file = Path(path)
    return file.with_name(f"{file.stem}.{role}{file.suffix}")
