"""Rows in parts that another engine keeps: questions go to every part, and the answers are added up here.

Whoever has the parts (Ray, Spark, a pool of processes) needs one function, which hands a question to each
part and collects the answers. A question is a function of ours that can be pickled; what it returns are the
part's schema, its counts or its moments, never rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import col
from dagora.data.columns.overview import ColumnSummary, Overview, level_list
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.readers import read_as
from dagora.data.schema import Schema
from dagora.stats.accepting import as_statistics
from dagora.stats.blocks.cover import Set
from dagora.stats.capabilities import contingencies
from dagora.stats.indicators import Scales, add_features, feature_starts, no_features
from dagora.stats.moments import merge_moments
from dagora.stats.scan.kept_counts import OccupiedCells
from dagora.stats.scan.scan_statistics import ScanStatistics
from dagora.stats.scan.sparse import sum_by_key
from dagora.stats.statistics import Contingency, Moments, Statistics

TITLE = "the parts"
Ask = Callable[[Callable[[object], Any]], Iterable[Any]]


def open_parts(ask: Ask) -> ScanStatistics:
    """Open rows that are kept in parts, such as those of Ray, Spark or a pool of processes.

    Counts are added, so they are those of all rows together. Moments are merged, and agree but for rounding.

    Parameters
    ----------
    ask : callable
        `ask(question)` returns `question(part)` for every part, in the same order each time. A part is what
        `learn` takes: a file, a frame, a table, or statistics. All parts must have the same columns, of the
        same types and levels: declare levels that a part may lack, as categories of pandas or polars, or as a
        dictionary of Arrow.

    Returns
    -------
    Statistics
        To be given to `learn` and other functions as their data.

    Examples
    --------
    >>> import dagora
    >>> parts = [{"a": [0, 1] * 20, "b": [0, 1] * 20}, {"a": [1, 0] * 30, "b": [1, 0] * 30}]
    >>> rows = open_parts(lambda question: [question(part) for part in parts])
    >>> rows.n_rows, dagora.learn(rows, "hill-climb").graph.edges, rows.counts([(0, 1)]).values.tolist()
    (100, (('a', 'b'),), [50, 50])
    """
    parts: list[PartDescription] = answers_of(ask, describe_part, PartDescription)
    if not parts:
        raise DataError(f"{TITLE}: there is none: at least one is needed")
    schema, rows = parts[0].schema, sum(part.rows for part in parts)
    for number, part in enumerate(parts[1:], start=2):
        check_same(schema, part.schema, number)
    summaries = tuple(
        ColumnSummary(each.name, str(each.kind), "as in all parts", level_list(each.levels), each.cardinality)
        for each in schema
    )
    counter = PartCounts(ask, [part.rows for part in parts])
    return ScanStatistics(counter, schema, rows, Overview(summaries, rows, source=TITLE))


def answers_of(ask: Ask, question: Callable[[object], Any], kind: type) -> list[Any]:
    """The answers to a question, each of which must be what our function returns."""
    answers = ask(question)
    if not isinstance(answers, Iterable):
        raise wrong_answers(f"returned {type(answers).__name__}")
    listed = list(answers)
    for number, answer in enumerate(listed, start=1):
        if not isinstance(answer, kind):
            raise wrong_answers(f"has {type(answer).__name__} for part {number}")
    return listed


def wrong_answers(what: str) -> DataError:
    """The error about a function that does not hand questions to parts."""
    return DataError(
        f"{TITLE}: the function must return question(part) for every part, in a list, and {what}"
    )


def check_same(known: Schema, other: Schema, number: int) -> None:
    """Refuse a part whose columns, types or levels are others than those of the first."""
    if known.names != other.names:
        raise DataError(f"part {number} has other columns than part 1, or in another order")
    for one, two in zip(known, other, strict=True):
        if one.kind is not two.kind:
            raise DataError(f"{col(one.name)} is {one.kind} in part 1, and {two.kind} in part {number}")
        if one.levels != two.levels:
            raise DataError(
                f"{col(one.name)} has other levels in part {number} than in part 1: declare all levels "
                "in every part, as categories of pandas or polars, or as a dictionary of Arrow"
            )
        if one.ordered != two.ordered:
            first, second = ("", "not ") if one.ordered else ("not ", "")
            raise DataError(
                f"the levels of {col(one.name)} are {first}ordered in part 1, and {second}ordered in "
                f"part {number}: declare them alike"
            )


class PartCounts:
    """Counts and moments of parts; a pass is one question to each of them."""

    title, transaction, message = TITLE, 0, ""

    def __init__(self, ask: Ask, rows_of_parts: Sequence[int]) -> None:
        self._ask, self._rows_of_parts = ask, list(rows_of_parts)
        self.passes = 1

    @property
    def effort(self) -> dict[str, float]:
        """The passes."""
        return {"passes": float(self.passes)}

    def count(self, sets: list[Set]) -> dict[Set, OccupiedCells]:
        """Occupied cells of sets, added up."""
        answers: list[list[Contingency]] = self._answers(partial(count_part, sets=sets), list)
        found = {}
        for place, columns in enumerate(sets):
            tables = [answer[place] for answer in answers]
            self._check_rows([int(table.counts.sum()) for table in tables])
            cells = np.concatenate([np.asarray(table.cells, dtype=np.int64) for table in tables])
            counts = np.concatenate([table.counts for table in tables])
            kept, sums = sum_by_key(cells, counts) if columns else (cells[:1], counts.sum(keepdims=True))
            found[columns] = OccupiedCells(kept.astype(np.uint16), sums)
        return found

    def moments(self, columns: Sequence[int]) -> Moments:
        """Moments of all continuous columns, merged in the order of the parts."""
        answers: list[Moments] = self._answers(measure_part, Moments)
        self._check_rows([answer.n for answer in answers])
        total = Moments(0, np.zeros(len(columns)), np.zeros((len(columns), len(columns))))
        for answer in answers:
            total = merge_moments(total, answer)
        return total

    def feature_moments(self, schema: Schema, scales: Scales) -> Moments:
        """Moments of the features of all columns, merged in the order of the parts."""
        answers: list[Moments] = self._answers(partial(widen_part, schema=schema, scales=scales), Moments)
        self._check_rows([answer.n for answer in answers])
        total = no_features(feature_starts(schema))
        for answer in answers:
            total = merge_moments(total, answer)
        return total

    def _answers(self, question: Callable[[object], Any], kind: type) -> list[Any]:
        self.passes += 1
        answers = answers_of(self._ask, question, kind)
        if len(answers) != len(self._rows_of_parts):
            raise DataError(f"{len(answers)} parts answered, and {len(self._rows_of_parts)} did before")
        return answers

    def _check_rows(self, rows: list[int]) -> None:
        for number, (now, before) in enumerate(zip(rows, self._rows_of_parts, strict=True), start=1):
            if now != before:
                raise DataError(
                    f"part {number} changed during the run: it has {now} rows now, and had {before} before"
                )


# --- what is done where a part is ---------------------------------------------------------------------------


class PartDescription(NamedTuple):
    """The variables of a part, and how many rows it has."""

    schema: Schema
    rows: int


def statistics_of_part(part: object) -> Statistics:
    """Statistics of a file, or of what can be made a table."""
    return as_statistics(
        read_as(Path(part), ReadingOptions(trends=False)) if isinstance(part, str | Path) else part
    )


def describe_part(part: object) -> PartDescription:
    """Describe the content of a part."""
    statistics = statistics_of_part(part)
    return PartDescription(statistics.schema, statistics.n_rows)


def count_part(part: object, sets: list[Set]) -> list[Contingency]:
    """Occupied cells of some sets of columns of a part, with their counts."""
    return contingencies(statistics_of_part(part), sets)


def measure_part(part: object) -> Moments:
    """Moments of the continuous columns of a part."""
    return statistics_of_part(part).moments()


def widen_part(part: object, schema: Schema, scales: Scales) -> Moments:
    """Moments of the features of all columns of a part."""
    rows = statistics_of_part(part).rows()
    return add_features(no_features(feature_starts(schema)), schema, scales, rows.columns)
