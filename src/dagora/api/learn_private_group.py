"""Learn from columns of three and more owners, none of whom shows them: private K2 on replicated shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dagora.base.errors import DataError, OptionError
from dagora.base.events import Observer, ignore
from dagora.data.columns.reading_options import takes_reading
from dagora.learners.result import Result
from dagora.parties.replicated.group_session import run_all_owners
from dagora.parties.replicated.replicated_party import PARTIES
from dagora.parties.replicated.terms import LEAST_ROWS, GroupProposal
from dagora.parties.vertical.private_session import read_party_data


@takes_reading("drop", "missing", "na", "table", "decimal")
def learn_private_group(
    tables: Mapping[str, object],
    key: str,
    *,
    order: str | Iterable[str] | None = None,
    max_parents: int = 3,
    score: str = "f",
    min_rows: int = LEAST_ROWS,
    on_event: Observer = ignore,
    **reading: Any,  # noqa: ANN401
) -> Result:
    """Learn from the tables of three and more owners that have the same keys, as the owners would.

    The first three owners compute; any two of them together could see everything.

    Parameters
    ----------
    tables : mapping from str to path, data frame or Table
        Each owner's name and table. Every column but the key has two levels.
    key : str
        Column of all tables that identifies a row.
    order : str or list of str, optional
        The variables, parents first. Default: owner by owner.
    max_parents : int, default 3
        Most parents of a variable.
    score : str, default "f"
        "f" (exact) or "g" (by Stirling's formula).
    min_rows : int, default 10
        Fewest rows that are enough.
    {on_event, reading}

    Returns
    -------
    Result
        That of the first owner.

    Examples
    --------
    >>> from dagora.data.table import Table
    >>> def owned(name, flip):
    ...     rows = [[number, number // 2 % 2 ^ (number % flip == 0)] for number in range(40)]
    ...     return Table.from_numpy(rows, names=["id", name], discrete=["id", name])
    >>> tables = {"ann": owned("a", 50), "bob": owned("b", 9), "cleo": owned("c", 11)}
    >>> learn_private_group(tables, key="id").graph.edges
    (('a', 'b'), ('a', 'c'))
    """
    if not isinstance(tables, Mapping):
        raise DataError(
            f"tables are given as a mapping from an owner's name to its table, not as {type(tables).__name__}"
        )
    if len(tables) < PARTIES:
        raise OptionError(f"there are {len(tables)} tables, and three are needed: two are for learn_private")
    written = order if order is None or isinstance(order, str) else ",".join(map(str, order))
    brought = {name: read_party_data(table, key, **reading) for name, table in tables.items()}
    return run_all_owners(brought, GroupProposal(written, max_parents, score, min_rows), on_event=on_event)
