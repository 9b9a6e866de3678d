"""How often each test of independence rejects what is independent, at 1, 5 and 10 per cent.

    OMP_NUM_THREADS=1 python benchmarks/calibration.py [--draws 1000] [--rows 50 200] [--write]
    OMP_NUM_THREADS=1 python benchmarks/calibration.py --hard [--draws 1000] [--write]

Every draw makes x and y that depend on 0 to 3 given columns and on nothing else. `--hard` asks for what tests
are not made for: a given column that changes the spread of both, and heavy tails. `--write` puts the table
(and the picture) into docs/independence.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.learners.constraint.named_tests import TESTS
from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.tables import Mean
from dagora.stats.table import TableStatistics
from report import markdown_table

LEVELS = (0.01, 0.05, 0.1)
MOST_GIVEN = 3
HARD_ROWS = (500, 1000)
PAGE = Path(__file__).resolve().parent.parent / "docs" / "independence.md"
PICTURE = "independence-sizes.svg"
CURVES: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    np.sin,
    np.tanh,
    lambda z: z**2 / 2,
    lambda z: z,
    lambda z: np.cos(1.5 * z),
    lambda z: np.sin(2.5 * z),
)
Columns = list[np.ndarray]


def lines(rng: np.random.Generator, rows: int, size: int) -> Columns:
    """Normal columns, x and y linear in those given."""
    given = list(rng.normal(size=(size, rows)))
    return [sum((rng.uniform(-1, 1) * s for s in given), rng.normal(size=rows)) for _ in range(2)] + given


def curves(rng: np.random.Generator, rows: int, size: int) -> Columns:
    """Sums of curves of normal columns, and normal noise."""
    given = list(rng.normal(size=(size, rows)))

    def bent() -> np.ndarray:
        parts = (rng.uniform(0.5, 1.5) * CURVES[rng.integers(len(CURVES))](s) for s in given)
        return sum(parts, rng.uniform(0.5, 1.5) * rng.normal(size=rows))

    return [bent(), bent(), *given]


def levels(rng: np.random.Generator, rows: int, size: int) -> Columns:
    """Three levels each; x and y have a random distribution in each of the 3^size slices."""
    given = list(rng.integers(0, 3, size=(size, rows)))
    place = sum((s * 3**k for k, s in enumerate(given)), np.zeros(rows, dtype=np.int64))

    def drawn() -> np.ndarray:
        tables = rng.dirichlet(np.ones(3), size=3**size).cumsum(axis=1)
        return np.minimum(2, (rng.random(rows)[:, None] > tables[place]).sum(axis=1))

    return [drawn(), drawn(), *given]


def kinds(rng: np.random.Generator, rows: int, size: int) -> Columns:
    """A discrete x, a continuous y; a number is given, then levels, then a number."""
    given = [rng.integers(0, 3, rows) if k % 2 else rng.normal(size=rows) for k in range(size)]

    def total() -> np.ndarray:
        parts = (rng.normal(size=3)[s] if s.dtype.kind == "i" else rng.uniform(-1, 1) * s for s in given)
        return sum(parts, rng.normal(size=rows))

    return [np.digitize(total(), [-0.5, 0.7]), total(), *given]


# What is drawn for which test.
NULLS = {
    "fisher-z": (("lines", lines), ("curves", curves)),
    "x2": (("levels", levels),),
    "g2": (("levels", levels),),
    "g2-seen": (("levels", levels),),
    "cells": (("both kinds", kinds),),
    "mixed": (("both kinds", kinds),),
    "features": (("curves", curves),),
    "hsic": (("curves", curves),),
    "dcov": (("curves", curves),),
    "gcm": (("curves", curves),),
}


def spread_by_level(*spreads: float) -> Callable[..., Columns]:
    """Two numbers; each of three levels that are given has its own standard deviation for both."""

    def drawn(rng: np.random.Generator, rows: int, size: int) -> Columns:
        assert size == 1
        level = rng.integers(0, 3, rows)
        return [rng.normal(size=rows) * np.array(spreads)[level] for _ in range(2)] + [level]

    return drawn


def level_by_both(rng: np.random.Generator, rows: int, size: int) -> Columns:
    """A discrete x, a continuous y; three levels, each with its own spread, and a number are given."""
    assert size == 2
    level, z = rng.integers(0, 3, rows), rng.normal(size=rows)
    spread = np.array([0.5, 1, 2])[level]
    x, y = (rng.normal(size=3)[level] + rng.uniform(-1, 1) * z + spread * rng.normal(size=rows) for _ in "xy")
    return [np.digitize(x, [-0.5, 0.7]), y, level, z]


def spread_by_number(rng: np.random.Generator, rows: int, size: int) -> Columns:
    """Two numbers with standard deviation exp(z / 2), z the number that is given."""
    assert size == 1
    z = rng.normal(size=rows)
    return [rng.normal(size=rows) * np.exp(z / 2) for _ in range(2)] + [z]


def heavy_tails(rng: np.random.Generator, rows: int, size: int) -> Columns:
    """Two log-normal numbers."""
    assert size == 0
    return list(np.exp(rng.normal(size=(2, rows))))


def heavy_and_rare(rng: np.random.Generator, rows: int, size: int) -> Columns:
    """A level that a tenth of the rows has, and a log-normal number."""
    assert size == 0
    return [(rng.random(rows) < 0.1).astype(np.int64), np.exp(rng.normal(size=rows))]


# What tests are not made for: test, what is drawn in words, how, and how many columns are given.
HARD: tuple[tuple[str, str, Callable[..., Columns], int], ...] = (
    ("cells", "numbers, spread 1, 1.5, 2 by a given level", spread_by_level(1, 1.5, 2), 1),
    ("mixed", "numbers, spread 1, 1.5, 2 by a given level", spread_by_level(1, 1.5, 2), 1),
    ("cells", "numbers, spread 0.5, 1, 2 by a given level", spread_by_level(0.5, 1, 2), 1),
    ("mixed", "numbers, spread 0.5, 1, 2 by a given level", spread_by_level(0.5, 1, 2), 1),
    ("cells", "a level and a number, spread by a given level, and a number given", level_by_both, 2),
    ("mixed", "a level and a number, spread by a given level, and a number given", level_by_both, 2),
    ("fisher-z", "numbers, spread exp(z/2), z given", spread_by_number, 1),
    ("features", "numbers, spread exp(z/2), z given", spread_by_number, 1),
    ("gcm", "numbers, spread exp(z/2), z given", spread_by_number, 1),
    ("cells", "a log-normal number and a rare level", heavy_and_rare, 0),
    ("fisher-z", "two log-normal numbers", heavy_tails, 0),
    ("features", "two log-normal numbers", heavy_tails, 0),
    ("gcm", "two log-normal numbers", heavy_tails, 0),
)


def as_table(columns: Columns) -> Table:
    """Whole numbers are codes of three levels."""
    discrete = [column.dtype.kind == "i" for column in columns]
    schema = Schema(
        Variable(f"v{k}", Kind.DISCRETE, ("0", "1", "2")) if each else Variable(f"v{k}", Kind.CONTINUOUS)
        for k, each in enumerate(discrete)
    )
    return Table(
        schema,
        tuple(
            column.astype(np.uint16) if each else column
            for column, each in zip(columns, discrete, strict=True)
        ),
    )


def rejections(test: str, null: Callable[..., Columns], rows: int, size: int, draws: int) -> np.ndarray:
    """The share of draws that are rejected at each level."""
    rng = np.random.default_rng([rows, size])
    counts = np.zeros(len(LEVELS))
    first, second, given = np.array([0]), np.array([1]), np.arange(2, 2 + size)[None]
    for _ in range(draws):
        statistics = TableStatistics(as_table(null(rng, rows, size)))
        counts += TESTS[test](statistics, test).p_values(first, second, given)[0] < np.array(LEVELS)
    return counts / draws


def main() -> None:
    parser = argparse.ArgumentParser(description="Rejection rates under independence.")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--rows", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--hard", action="store_true", help="what tests are not made for, 500 and 1000 rows")
    parser.add_argument("--write", action="store_true", help="write the table and the picture into docs")
    arguments = parser.parse_args()
    if arguments.hard:
        hard_cases(arguments)
        return
    panels, cells = [], []
    for test, nulls in NULLS.items():
        for words, null in nulls:
            found = {
                (rows, size): rejections(test, null, rows, size, arguments.draws)
                for rows in arguments.rows
                for size in range(MOST_GIVEN + 1)
            }
            for rows in arguments.rows:
                sizes = [found[rows, size] for size in range(MOST_GIVEN + 1)]
                cells.append([f"`{test}` on {words}", str(rows), *map(in_per_cent, sizes)])
                print(" | ".join(cells[-1]), flush=True)
            panels.append(ChartPanel(f"{test} on {words}", series_of(found, arguments)))
    header = ["test", "rows", *(f"given {size}" for size in range(MOST_GIVEN + 1))]
    text = markdown_table(header, cells)
    if arguments.write:
        picture = draw_panels(
            panels,
            columns=5,
            x_label="columns given",
            y_label="rejected, per cent",
            title="Independent, and rejected at 1, 5 and 10 per cent",
            share_y=False,
        )
        PAGE.with_name(PICTURE).write_text(picture, encoding="utf-8")
        write_table("sizes", text, arguments.draws)


def hard_cases(arguments: argparse.Namespace) -> None:
    """Rejection rates of what tests are not made for."""
    cells = []
    for test, words, null, size in HARD:
        found = [rejections(test, null, rows, size, arguments.draws) for rows in HARD_ROWS]
        cells.append([f"`{test}`", words, *map(in_per_cent, found)])
        print(" | ".join(cells[-1]), flush=True)
    if arguments.write:
        header = ["test", "what is independent", *(f"{rows} rows" for rows in HARD_ROWS)]
        write_table("hard", markdown_table(header, cells), arguments.draws)


def in_per_cent(shares: np.ndarray) -> str:
    """The shares of the levels."""
    return " / ".join(f"{100 * share:.1f}" for share in shares)


def write_table(name: str, text: str, draws: int) -> None:
    """Put a table between its marks on the page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(begin)
    note = f"{draws} draws a cell; in each, rejected at 1 / 5 / 10 per cent, in per cent."
    PAGE.write_text(f"{before}{begin}\n{note}\n\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def series_of(found: dict[tuple[int, int], np.ndarray], arguments: argparse.Namespace) -> tuple[Series, ...]:
    """One series for each level and number of rows."""
    given = tuple(range(MOST_GIVEN + 1))
    return tuple(
        Series(
            f"{level:.0%}, {rows} rows",
            tuple(map(str, given)),
            tuple(
                Mean(100 * share, 100 * (share * (1 - share) / arguments.draws) ** 0.5, arguments.draws)
                for share in (found[rows, size][k] for size in given)
            ),
        )
        for k, level in enumerate(LEVELS)
        for rows in arguments.rows
    )


if __name__ == "__main__":
    main()
