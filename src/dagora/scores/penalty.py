"""The factor on BIC's price of a parameter that keeps edges by chance rare: `penalty=auto`.

It is the smallest factor c ≥ 1, in hundredths, at which fewer than one false edge per `COLUMNS_AN_EDGE`
columns is expected where all columns are independent (`noise`). Every pair is counted twice, once for each
direction: a search that may add, turn and remove edges finds more than the pairs that gain by themselves.
The formula needs the numbers of rows, columns and levels and nothing else, so that rows in memory, scanned
rows and rows over sites have the same factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

from dagora.base.wording import setting
from dagora.data.schema import Schema
from dagora.scores.noise import noise_edges

AUTO = "auto"
# One false edge is allowed for so many columns.
COLUMNS_AN_EDGE = 200
DIRECTIONS = 2
# Rows are few for so many columns if chance is expected to bring more edges than this, per column and in all.
PER_COLUMN, FEWEST = 0.1, 1.0
LARGEST = 1000.0


@dataclass(frozen=True)
class ChosenPenalty:
    """A factor on the price of a parameter, and a line on why it is that where nobody gave a number."""

    factor: float
    message: str = ""
    warning: str = ""


def choose_penalty(asked: object, schema: Schema, rows: int) -> ChosenPenalty:
    """The number that was asked for; `auto`; or, if nothing was, 1, and `auto` where rows are few.

    >>> from dagora.data.schema import Kind, Variable
    >>> schema = Schema(Variable(f"x{i}", Kind.CONTINUOUS) for i in range(120))
    >>> choose_penalty(None, schema, 30).factor, choose_penalty(2.0, schema, 30).factor
    (5.38, 2.0)
    >>> choose_penalty(None, schema, 100_000).factor, choose_penalty("auto", schema, 100_000).factor
    (1.0, 1.46)
    """
    if asked is not None and asked != AUTO:
        return ChosenPenalty(cast("float", asked))
    if asked is None and not rows_are_few(schema, rows, 1.0):
        return ChosenPenalty(1.0)
    factor = auto_penalty(schema, rows)
    left = f"{edges_by_chance(schema, rows, factor):.1g}"
    if asked == AUTO:
        words = f"{setting('penalty', AUTO)} is {factor:g} here: about {left} edges are expected by chance"
        return ChosenPenalty(factor, message=words)
    words = (
        f"{few_words(schema, rows, 1.0)}; so {setting('penalty', factor)} was chosen, with which about "
        f"{left} would ({setting('penalty', 1)} is BIC's own, and finds weaker edges, too)"
    )
    return ChosenPenalty(factor, warning=words)


def auto_penalty(schema: Schema, rows: int) -> float:
    """The smallest factor, in hundredths, that keeps the expected number of false edges below the allowed."""
    allowed = len(schema) / COLUMNS_AN_EDGE
    low, high = 99, math.ceil(LARGEST * 100)
    while high - low > 1:
        middle = (low + high) // 2
        enough = DIRECTIONS * edges_by_chance(schema, rows, middle / 100) < allowed
        low, high = (low, middle) if enough else (middle, high)
    return high / 100


def edges_by_chance(schema: Schema, rows: int, factor: float) -> float:
    """Expected number of pairs of independent columns that gain from an edge."""
    return noise_edges(schema, rows, factor * math.log(max(1, rows)) / 2)


def rows_are_few(schema: Schema, rows: int, factor: float) -> bool:
    """Return True if chance alone is expected to bring many edges at this factor."""
    return edges_by_chance(schema, rows, factor) > max(FEWEST, PER_COLUMN * len(schema))


def few_words(schema: Schema, rows: int, factor: float) -> str:
    """A sentence on the edges that chance alone would bring."""
    at = "" if factor == 1 else f" at {setting('penalty', factor)}"
    return (
        f"{rows} rows are few for {len(schema)} columns: even if no two columns had to do with each other, "
        f"about {edges_by_chance(schema, rows, factor):.0f} pairs would gain an edge by chance{at}"
    )


def noise_warnings(schema: Schema, rows: int, penalty: float) -> list[str]:
    """Warn if many edges are expected by chance at a factor that somebody chose."""
    if not rows_are_few(schema, rows, penalty):
        return []
    return [f"{few_words(schema, rows, penalty)}; {setting('penalty', AUTO)} keeps them rare"]
