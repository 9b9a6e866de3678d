"""Learn from columns split between two owners, neither of whom shows them: private K2."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dagora.base.errors import OptionError
from dagora.base.events import Observer, ignore
from dagora.base.wording import option
from dagora.data.columns.reading_options import takes_reading
from dagora.learners.result import Result
from dagora.parties.vertical.agreement import TermsProposal
from dagora.parties.vertical.private_session import read_party_data, run_both_parties


@takes_reading("drop", "missing", "na", "table", "decimal")
def learn_private(
    host_table: object,
    guest_table: object,
    key: str,
    *,
    order: str | Iterable[str] | None = None,
    max_parents: int = 3,
    score: str = "f",
    mode: str = "hidden",
    crypto: str = "rlwe",
    min_rows: int = 2,
    parameters: str = "none",
    shares: str | Path | None = None,
    security: str = "semi-honest",
    on_event: Observer = ignore,
    **reading: Any,  # noqa: ANN401
) -> Result:
    """Learn from two tables that share a key, as two owners would who do not show them to each other.

    Parameters
    ----------
    host_table : path, data frame or Table
        The table of the first owner. Every column but the key has 2 to 5 levels.
    guest_table : path, data frame or Table
        The table of the second owner.
    key : str
        Column of both tables that identifies a row; common rows are used.
    order : str or list of str, optional
        The variables, parents first. Default: the host's columns, then the guest's.
    max_parents : int, default 3
        Most parents of a variable.
    score : str, default "f"
        "f" (exact) or "g" (by Stirling's formula).
    mode : str, default "hidden"
        "hidden" (only the graph is revealed) or "adaptive" (the steps of the search as well).
    crypto : str, default "rlwe"
        "rlwe" or "paillier": encryption for dot products.
    min_rows : int, default 2
        Fewest common rows that are enough.
    parameters : str, default "none"
        "none", "shares" (each party writes its shares of counts to a file) or "open" (tables are opened:
        `settings["tables"]` of the result).
    shares : path, optional
        The file for shares, with .host or .guest before its ending.
    security : str, default "semi-honest"
        "semi-honest" or "malicious": also against a party that cheats, which learns one bit more at most;
        both tables must have the same keys.
    {on_event, reading}

    Returns
    -------
    Result
        That of the host.

    Examples
    --------
    >>> from dagora.data.table import Table
    >>> rows = [[number, number % 2] for number in range(20)]
    >>> a = Table.from_numpy(rows, names=["id", "a"], discrete=["id", "a"])
    >>> b = Table.from_numpy(rows[5:], names=["id", "b"], discrete=["id", "b"])
    >>> result = learn_private(a, b, key="id")
    >>> result.graph.edges, result.stats["rows"]
    ((('a', 'b'),), 15.0)
    """
    if shares is not None and parameters != "shares":
        raise OptionError(
            f"{option('shares')} names a file for shares: give {option('parameters', 'shares')} too"
        )
    written = order if order is None or isinstance(order, str) else ",".join(map(str, order))
    proposal = TermsProposal(
        written, max_parents, score, mode, crypto, min_rows=min_rows, parameters=parameters, security=security
    )
    host, guest = (read_party_data(table, key, **reading) for table in (host_table, guest_table))
    return run_both_parties(host, guest, proposal, on_event=on_event, shares=shares)
