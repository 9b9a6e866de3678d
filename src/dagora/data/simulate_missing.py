"""Make values of a table missing, to test how methods deal with that.

`mcar` (missing completely at random): every cell is missing with the same probability. `mar` (missing at
random): columns are paired at random; the first of a pair is always seen, and whether a cell of the second is
missing depends on it, so half of the columns have twice the share of missing values. `mnar` (not at random):
whether a cell is missing depends on the value that stood there. In the latter two, rows whose deciding value
is above its median are three times as likely to have a missing value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.data.accepting import as_table
from dagora.data.incomplete import IncompleteTable
from dagora.data.table import Table

MECHANISMS = ("mcar", "mar", "mnar")
# How many times as likely a missing value is where the deciding value is high.
ODDS = 3.0


def punch_holes(table: Table | object, holes: str, seed: int = 0) -> IncompleteTable:
    """Make values of a table missing at random, to test how a method deals with them.

    Parameters
    ----------
    table : Table, or what can be made one
        A table without missing values, a data frame, a matrix or the name of a file.
    holes : str
        How values go missing, and the share of them, above 0 and below 1. "mcar:0.2": completely at random.
        "mar:0.2": depending on another column, which stays complete. "mnar:0.2": depending on the value.
    seed : int, default 0
        The same seed gives the same result.

    Returns
    -------
    IncompleteTable
        The table with missing values.

    Examples
    --------
    >>> table = Table.from_numpy(np.arange(2000.0).reshape(1000, 2))
    >>> punched = punch_holes(table, "mcar:0.2", seed=1)
    >>> 0.18 < punched.missing / 2000 < 0.22
    True
    """
    mechanism, share = parse_holes(holes)
    table = as_table(table)
    rng = np.random.default_rng([seed, 19])
    d = len(table.columns)
    risks = np.full((d, table.n_rows), share)
    if mechanism == "mnar":
        for i in range(d):
            risks[i] = uneven(table.columns[i], share)
    if mechanism == "mar":
        order = rng.permutation(d)
        seen_always, others = order[: (d + 1) // 2], order[(d + 1) // 2 :]
        risks[:] = 0.0
        for cause, punched in zip(seen_always, others, strict=False):
            risks[punched] = uneven(table.columns[cause], min(2 * share, 0.95))
    return IncompleteTable.of(table, rng.random(risks.shape) >= risks)


def parse_holes(holes: str) -> tuple[str, float]:
    """The mechanism and the share of missing values.

    >>> parse_holes("mar:0.4")
    ('mar', 0.4)
    >>> parse_holes("mar")
    Traceback (most recent call last):
    dagora.OptionError: missing values are mcar, mar or mnar with a share above 0 and below 1, ...
    """
    mechanism, _, share = holes.partition(":")
    try:
        number = float(share)
    except ValueError:
        number = 0.0
    if mechanism not in MECHANISMS or not 0 < number < 1:
        raise OptionError(
            "missing values are mcar, mar or mnar with a share above 0 and below 1, such as mcar:0.2, not "
            f"'{holes}'"
        )
    return mechanism, number


def uneven(values: NDArray[np.generic], share: float) -> NDArray[np.float64]:
    """The probability of a missing value in each row, larger where the value is high; `share` on average."""
    numbers = values.astype(np.float64)
    ranks = np.argsort(np.argsort(numbers, kind="stable"), kind="stable")
    high = numbers > np.median(numbers) if len(np.unique(numbers)) > 1 else ranks >= len(ranks) / 2
    if not high.any():
        high = numbers >= numbers.max()
    weights = np.where(high, ODDS, 1.0)
    risk: NDArray[np.float64] = np.minimum(0.98, share * weights / weights.mean())
    return risk
