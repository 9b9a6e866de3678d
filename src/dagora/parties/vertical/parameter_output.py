"""Parameters of a private network as they are given to the user: in a result, or as a file of shares.

A result of `parameters="open"` holds under `settings["tables"]` the tables that its party knows: the opened
tables of families with columns of both, rounded to three digits; its own families' tables, which it did not
send; the names of levels; and which tables were withheld or stay with the other party.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.base.files import json_text
from dagora.parties.vertical.costs import widths_for
from dagora.parties.vertical.parameter_circuits import THOUSAND

if TYPE_CHECKING:
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
