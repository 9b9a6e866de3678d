"""Drafts of policies: with the usual limits for an owner to change, and without limits for a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, prod

from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.plan.drafting import (
    CELLS_PER_TABLE,
    COLUMNS_PER_TABLE,
    MOST_COLUMNS_PER_TABLE,
    NO_LIMIT,
)
from dagora.parties.horizontal.plan.plan import (
    COUNTS,
    FOURTH,
    INDICATORS,
    LAGGED,
    MOMENTS,
    MOST_CELLS,
    MOST_FUNCTIONS,
    QUESTIONS,
    RELEASE,
    WEIGHTS,
    RunPlan,
    worst_case,
)
from dagora.parties.horizontal.policy.policy import ANY, SitePolicy

# Ten rows for each cell is a usual rule of disclosure control; three is the least that is drafted.
ROWS_PER_CELL, FEWEST_ROWS_PER_CELL = 10, 3
# Sets of columns that the graphs of a class may ask to adjust for, each a regression of its own.
REGRESSIONS = 4


def draft_policy(
    codebook: Codebook,
    coordinator: str,
    sites: Mapping[str, str],
    *,
    least_sites: int,
    rows: int,
    lags: int = 0,
    step: float = 0.0,
) -> SitePolicy:
    """A policy with the usual limits, where all sites together have about so many rows.

    With `lags`, the rows are series, and only windows of time may be asked for: noise for privacy assumes
    independent rows.
    """
    discrete = sum(not coding.continuous for coding in codebook)
    kinds = ([COUNTS] if discrete else []) + ([MOMENTS] if discrete < len(codebook.columns) else [])
    weighed = codebook.largest_weight > 0
    kinds += [INDICATORS] * (len(kinds) > 1)
    kinds += [WEIGHTS] if weighed else [FOURTH] * (MOMENTS in kinds)
    if lags:
        kinds = [LAGGED]
    columns, cells = draft_limits([len(v.levels) for v in codebook.schema if v.levels], rows)
    tables = (0 if lags else worst_case(discrete, columns) + 1) + sum(kind != COUNTS for kind in kinds)
    if FOURTH in kinds:
        cells = max(cells, draft_regression(len(codebook.columns) - discrete, rows))
        tables += REGRESSIONS - 1
    return SitePolicy(
        coordinator=coordinator,
        sites=sites,
        codebook=codebook,
        questions=(*kinds, *[RELEASE] * (not lags and not weighed)),
        lags=lags,
        step=step,
        colluders=len(sites) // 3,
        least_sites=least_sites,
        columns_per_table=columns,
        cells_per_table=cells,
        tables_per_run=tables,
        tables_for_ever=10 * tables,
    )


def draft_limits(levels: Sequence[int], rows: int) -> tuple[int, int]:
    """Columns and cells of a table: ten rows for each cell, or three where that allows a third column.

    So many columns as fit, whichever they are: what a search asks of pooled rows is cut off only beyond them.
    The number of cells is a power of two, since the coordinator can find it out.

    >>> draft_limits([2, 2, 2], 1000), draft_limits([3, 3, 3], 200), draft_limits([9, 9, 9], 200)
    ((3, 64), (3, 32), (2, 128))
    >>> draft_limits([2] * 20, 1000), draft_limits([4, 3, 3, 2, 2, 2], 1000)
    ((6, 64), (4, 128))
    """
    largest = sorted(levels, reverse=True)
    three = prod(largest[:COLUMNS_PER_TABLE])
    columns = COLUMNS_PER_TABLE if three * FEWEST_ROWS_PER_CELL <= rows else 2
    most = min(rows // ROWS_PER_CELL, CELLS_PER_TABLE)
    while columns < min(len(largest), MOST_COLUMNS_PER_TABLE) and prod(largest[: columns + 1]) <= most:
        columns += 1
    usual = 1 << max(1, (rows // ROWS_PER_CELL).bit_length() - 1)
    needed = 1 << (prod(largest[:columns]) - 1).bit_length()
    return columns, min(CELLS_PER_TABLE, max(usual, needed))


def draft_regression(columns: int, rows: int) -> int:
    """Sums of the largest regression of at most so many columns that leaves ten rows for each sum.

    >>> [draft_regression(8, rows) for rows in (90, 1000, 10**6)], draft_regression(3, 1000)
    ([0, 70, 495], 35)
    """
    most = min(rows // ROWS_PER_CELL, CELLS_PER_TABLE)
    return max((comb(k + 4, 4) for k in range(2, columns + 1) if comb(k + 4, 4) <= most), default=0)


def trial_policy(plan: RunPlan) -> SitePolicy:
    """A policy that allows everything to the parties of a plan, and only to them."""
    return SitePolicy(
        coordinator=plan.coordinator,
        sites=plan.sites,
        codebook=plan.codebook,
        questions=QUESTIONS,
        least_sites=len(plan.sites),
        shows=(ANY,),
        shown_for_ever=NO_LIMIT,
        functions=MOST_FUNCTIONS,
        lags=plan.lags,
        step=plan.step,
        columns_per_table=MOST_COLUMNS_PER_TABLE,
        cells_per_table=MOST_CELLS,
        largest_rows=plan.largest_rows,
        tables_per_run=NO_LIMIT,
        tables_for_ever=NO_LIMIT,
        rho_for_ever=1e9,
        releases_for_ever=NO_LIMIT,
        place="the policy of a trial",
    )
