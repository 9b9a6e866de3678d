"""The factor on BIC's price of a parameter that keeps edges by chance rare: `penalty=auto`.

It is the smallest factor c ≥ 1, in hundredths, at which fewer than one false edge per `COLUMNS_AN_EDGE`
columns is expected where all columns are independent (`noise`). Every pair is counted twice, once for each
direction: a search that may add, turn and remove edges finds more than the pairs that gain by themselves.
The formula needs the numbers of rows, columns and levels and nothing else, so that rows in memory, scanned
rows and rows over sites have the same factor. Columns of earlier steps of a window have no parents: pairs
of them do not count, a pair with one of them counts once, and false edges are allowed for the columns of
the present step alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

from dagora.base.wording import setting
from dagora.data.schema import Schema
from dagora.graph.knowledge_in_time import earlier_nodes
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
    past, present = split_in_time(schema)
    allowed = len(present) / COLUMNS_AN_EDGE
    low, high = 99, math.ceil(LARGEST * 100)
    while high - low > 1:
        middle = (low + high) // 2
        price = price_at(rows, middle / 100)
        # Of the present step both directions; all others once.
        again = (DIRECTIONS - 1) * noise_edges(present, rows, price) - noise_edges(past, rows, price)
        enough = noise_edges(schema, rows, price) + again < allowed
        low, high = (low, middle) if enough else (middle, high)
    return high / 100


def edges_by_chance(schema: Schema, rows: int, factor: float) -> float:
    """Expected number of pairs of independent columns that gain from an edge, but for pairs of the past."""
    price = price_at(rows, factor)
    return noise_edges(schema, rows, price) - noise_edges(split_in_time(schema)[0], rows, price)


def price_at(rows: int, factor: float) -> float:
    """The price of a parameter, in nats."""
    return factor * math.log(max(1, rows)) / 2


def split_in_time(schema: Schema) -> tuple[Schema, Schema]:
    """The columns of earlier steps, which are none where rows are no windows, and the others.

    >>> from dagora.data.schema import Kind, Variable
    >>> past, present = split_in_time(Schema(Variable(name, Kind.CONTINUOUS) for name in ("x", "x[t-1]")))
    >>> past.names, present.names
    (('x[t-1]',), ('x',))
    """
    earlier = earlier_nodes(schema.names).tolist()
    past = (variable for variable, is_past in zip(schema, earlier, strict=True) if is_past)
    present = (variable for variable, is_past in zip(schema, earlier, strict=True) if not is_past)
    return Schema(past), Schema(present)


def rows_are_few(schema: Schema, rows: int, factor: float) -> bool:
    """Return True if chance alone is expected to bring many edges at this factor."""
    columns = len(split_in_time(schema)[1])
    return edges_by_chance(schema, rows, factor) > max(FEWEST, PER_COLUMN * columns)


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
