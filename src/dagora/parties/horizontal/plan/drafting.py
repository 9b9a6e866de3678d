"""Draft a plan from what is to be learned: which sums it needs, and the most that it may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.plan.plan import (
    BASIS,
    COUNTS,
    INDICATORS,
    LAGGED,
    LARGEST_ROWS,
    MOMENTS,
    MOST_CELLS,
    RELEASE,
    Plan,
    worst_case,
)
from dagora.parties.privacy.terms import PrivacyTerms

COLUMNS_PER_TABLE, CELLS_PER_TABLE = 3, 4096
MOST_COLUMNS_PER_TABLE = 64
NO_LIMIT = 1 << 62


def draft_plan(
    codebook: Codebook,
    sites: Mapping[str, str],
    method: str,
    *,
    coordinator: str = "",
    settings: Mapping[str, Any] | None = None,
    shows: tuple[str, ...] = (),
    functions: int = 0,
    lags: int = 0,
    step: float = 0.0,
    columns_per_table: int = COLUMNS_PER_TABLE,
    cells_per_table: int = CELLS_PER_TABLE,
    largest_rows: int = LARGEST_ROWS,
    privacy: PrivacyTerms | None = None,
) -> Plan:
    """A plan that asks for no more than the method needs.

    >>> from dagora.parties.horizontal.plan.codebook import Coding
    >>> book = Codebook((Coding("a", levels=("no", "yes")), Coding("b", levels=("no", "yes"))))
    >>> plan = draft_plan(book, {"north": "", "south": "", "west": ""}, "hill-climb")
    >>> plan.questions, plan.tables
    (('counts',), 4)
    """
    discrete = sum(not coding.continuous for coding in codebook)
    if privacy is not None:
        return Plan(
            sites=dict(sorted(sites.items())),
            codebook=codebook,
            method=method,
            questions=(RELEASE,),
            coordinator=coordinator,
            settings=dict(settings or {}),
            cells_per_table=cells_per_table,
            largest_rows=largest_rows,
            privacy=privacy,
        )
    questions = [COUNTS] * (discrete > 0) + [MOMENTS] * (discrete < len(codebook.columns))
    questions += [INDICATORS] * (len(questions) > 1)
    if lags:
        questions = [LAGGED]
    counted = discrete and not lags
    tables = min(NO_LIMIT, worst_case(discrete, columns_per_table) + 1) if counted else 0
    return Plan(
        sites=dict(sorted(sites.items())),
        codebook=codebook,
        method=method,
        questions=(*questions, *[BASIS] * (functions > 0)),
        coordinator=coordinator,
        settings=dict(settings or {}),
        columns_per_table=min(columns_per_table, MOST_COLUMNS_PER_TABLE),
        cells_per_table=cells_per_table,
        tables=tables,
        functions=functions,
        lags=lags,
        step=step,
        largest_rows=largest_rows,
        shows=shows,
    )


def draft_trial(
    codebook: Codebook,
    sites: Mapping[str, str],
    method: str,
    coordinator: str,
    **more: Any,  # noqa: ANN401
) -> Plan:
    """A plan without limits, for a trial in which one person has all the tables."""
    return draft_plan(
        codebook,
        sites,
        method,
        coordinator=coordinator,
        columns_per_table=len(codebook.columns),
        cells_per_table=MOST_CELLS,
        **more,
    )
