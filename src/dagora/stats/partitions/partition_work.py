"""The work at a partition: look at its columns, code its rows, count them, take their moments.

These functions run in other processes. What they return is small, except for coded rows, which stay there.
Integers are added exactly; moments of partitions are merged in a tree that follows the numbers of the
partitions, so neither depends on who computes what, or when.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.binary_files import BATCH_ROWS
from dagora.data.columns.frames import one_line
from dagora.data.scan.file_sources import plain_text
from dagora.data.scan.profile import look_at_all
from dagora.data.schema import Schema
from dagora.stats.blocks.block_kernel import BlockRows
from dagora.stats.blocks.cover import Set
from dagora.stats.blocks.rounds import CountingRound
from dagora.stats.coded_columns import coded_columns
from dagora.stats.indicators import Scales, add_features, feature_starts, no_features
from dagora.stats.moments import block_moments, merge_moments
from dagora.stats.partitions.merged_profiles import Profiles
from dagora.stats.scan.row_stream import Piece, RowStream, Words, complete_part, join
from dagora.stats.scan.sparse import SparseCounts
from dagora.stats.statistics import Moments

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.scan.codebook import Coding


@dataclass(frozen=True)
class PartitionRows:
    """One partition as a source of rows: a pandas frame, with the types of the whole frame."""

    frame: Any
    types: pa.Schema
    title: str
    text_cells: bool = False

    def schema(self) -> pa.Schema:
        """Names and types of all columns."""
        return self.types

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns."""
        import pyarrow as pa

        wanted = pa.schema([self.types.field(name) for name in columns])
        try:
            table = pa.Table.from_pandas(self.frame[list(columns)], schema=wanted, preserve_index=False)
        except (pa.ArrowException, TypeError, ValueError, KeyError) as problem:
            raise DataError(
                f"{self.title}: a partition does not have the columns and types of the frame: "
                f"{one_line(problem)}"
            ) from None
        yield from map(plain_text, table.to_batches(max_chunksize=BATCH_ROWS))

    def state(self) -> object:
        """Unknown."""
        return None


def look_at(part: PartitionRows, profiles: Profiles, words: Words, *, complete: bool) -> Profiles:
    """The profiles of the columns of a partition; `profiles` are empty ones, which other partitions share."""
    own = deepcopy(profiles)
    for batch in part.batches(list(own)):
        if batch.num_rows:
            look_at_all(own.values(), complete_part(batch, words) if complete else batch, words)
    return own


def code(part: PartitionRows, codings: list[Coding], rows: int, filled: Words | None) -> Piece:
    """The rows of a partition as codes and numbers, as many as it had when it was looked at."""
    stream = RowStream(part, codings, rows, None, filled)
    pieces = list(stream.pieces(range(len(codings))))
    return join(pieces) if pieces else [np.empty(0, dtype=np.float64) for _ in codings]


@dataclass(frozen=True)
class CountRequest:
    """Sets to be counted together: with tables (`dense`), or by the cells that occur (`sparse`)."""

    columns: tuple[int, ...]
    dense: list[Set]
    sparse: list[Set]
    levels: NDArray[np.int64]
    with_bits: NDArray[np.bool_]
    rows: int
    jobs: int

    def round(self) -> CountingRound:
        """Tables without a count yet."""
        return CountingRound(self.dense, self.levels, self.with_bits, self.rows, self.jobs)


@dataclass(frozen=True)
class PartitionCounts:
    """The tables of a round as one array, and the cells of sets without a table."""

    tables: NDArray[Any]
    sparse: list[SparseCounts]


def count(rows: Piece, asked: CountRequest) -> PartitionCounts:
    """Count the sets in one partition; columns of sets are places among the asked columns."""
    together = asked.round()
    others = [SparseCounts(some, asked.levels[list(some)].tolist()) for some in asked.sparse]
    if len(rows[0]):
        kind = np.uint8 if asked.levels.max(initial=0) <= 256 else np.uint16
        codes: NDArray[Any] = np.stack([rows[column] for column in asked.columns]).astype(kind)
        if asked.dense:
            together.add(BlockRows(*coded_columns(codes, asked.levels, asked.with_bits)))
        for counts in others:
            counts.add(codes)
    return PartitionCounts(together.tables, others)


def add_counts(a: PartitionCounts, b: PartitionCounts) -> PartitionCounts:
    """The counts of two partitions together; both stay as they are, since Dask may need them again."""
    together = [copy(one) for one in a.sparse]
    for one, other in zip(together, b.sparse, strict=True):
        one.merge(other)
    return PartitionCounts(a.tables + b.tables, together)


def moments(rows: Piece, columns: Sequence[int]) -> Moments:
    """Moments of some columns of one partition."""
    d = len(columns)
    total = Moments(0, np.zeros(d), np.zeros((d, d)))
    return block_moments(total, [rows[column] for column in columns]) if len(rows[0]) else total


def feature_moments(rows: Piece, schema: Schema, scales: Scales) -> Moments:
    """Moments of the features of all columns of one partition."""
    return add_features(no_features(feature_starts(schema)), schema, scales, rows)


def add_moments(a: Moments, b: Moments) -> Moments:
    """Moments of two partitions together; an empty one changes nothing."""
    if a.n == 0 or b.n == 0:
        return a if b.n == 0 else b
    return merge_moments(a, b)
