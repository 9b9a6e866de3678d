"""Dask data frames: the rows stay where Dask has them, and only counts and moments come back.

Every partition is coded once, into arrays that stay on the workers. A round of questions is a task for each
partition, whose results are added in a tree. A worker that is lost takes its coded partitions with it: Dask
makes them again from the frame, and the result is the same to the last bit. With a client of
`distributed`, all of that runs on its cluster, otherwise in threads here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagora.base.dask_cluster import check_workers, same_version
from dagora.base.errors import DagoraError, DataError, OptionError
from dagora.base.extras import DASK, DISTRIBUTED
from dagora.base.version import __version__
from dagora.base.wording import option
from dagora.data.columns.column_names import check_names
from dagora.data.columns.frames import one_line
from dagora.data.readers import SEPARATORS, check_separator
from dagora.data.schema import Schema
from dagora.stats.blocks.cover import Set, worth_bits
from dagora.stats.indicators import Scales
from dagora.stats.partitions.merged_profiles import Profiles, merge_profiles
from dagora.stats.partitions.partition_work import (
    CountRequest,
    PartitionCounts,
    PartitionRows,
    add_counts,
    add_moments,
    code,
    count,
    feature_moments,
    look_at,
    moments,
)
from dagora.stats.scan.first_pass import scan_source
from dagora.stats.scan.kept_counts import OccupiedCells
from dagora.stats.scan.scan_statistics import ScanStatistics
from dagora.stats.scan.stream_counts import StreamCounts, cells_at
from dagora.stats.statistics import Moments

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.data.scan.codebook import Coding
    from dagora.stats.scan.row_stream import RowStream, Words

T = TypeVar("T")
TITLE = "the Dask frame"
PARQUET, CSV = (".parquet", ".pq"), (".csv", ".tsv")


def is_dask(data: object) -> bool:
    """Return True if it is a collection of Dask, without importing Dask.

    >>> is_dask([1, 2])
    False
    """
    return type(data).__module__.partition(".")[0] in {"dask", "dask_expr"}


def open_worker_files(data: str, separator: str | None = None) -> tuple[Any, bool]:
    """Files that the workers read, as a Dask frame, and whether its text may stand for numbers.

    They are a file, a folder of Parquet, or a pattern; the workers need the same path: a shared folder, or
    storage that Dask knows. All cells of CSV are read as text, so that our rules say what they mean.
    """
    DISTRIBUTED.require("a Dask cluster")
    import dask.dataframe as dd

    kind = Path(data).suffix.lower()
    mark = check_separator(separator)
    if kind not in (*PARQUET, *CSV, ""):
        raise OptionError(f"{data}: a Dask cluster reads Parquet and CSV files, not '{kind}'")
    if mark is not None and kind not in CSV:
        raise OptionError(f"{data}: {option('separator')} is for CSV files: leave it out")
    try:
        if kind not in CSV:
            return dd.read_parquet(data), False
        frame = dd.read_csv(data, sep=mark or SEPARATORS[kind], dtype=str, keep_default_na=False)
    except Exception as problem:
        raise DataError(f"{data}: {one_line(problem)}") from None
    if frame._meta.index.dtype != "int64":  # noqa: SLF001 - pandas takes cells beyond the header for names of rows
        raise DataError(f"{data}: its rows have more cells than its header has names")
    frame.columns = check_names(list(frame.columns))
    return frame, True


def open_dask(
    data: Any,  # noqa: ANN401
    reading: ReadingOptions,
    jobs: int = 1,
    *,
    text_cells: bool = False,
) -> ScanStatistics:
    """Statistics of a Dask data frame, or of a bag of records; text may stand for numbers in `text_cells`."""
    if reading.missing == "auto":
        reading = replace(reading, missing="error", why_not_model=None)
    return scan_source(DaskRows(data, text_cells=text_cells), reading, jobs)


class DaskRows:
    """A Dask data frame as a source of rows whose passes are made where the partitions are."""

    title = TITLE

    def __init__(self, data: Any, *, text_cells: bool = False) -> None:  # noqa: ANN401 (Dask need not be installed)
        DASK.require("a Dask frame")
        if hasattr(data, "to_dataframe"):  # a bag of records
            data = run(data.to_dataframe)
        if not hasattr(data, "to_delayed") or not hasattr(data, "dtypes") or not hasattr(data, "columns"):
            raise DataError(
                f"a Dask collection of type {type(data).__name__} has no columns: give a data frame, or a "
                "bag of records"
            )
        self._frame = data
        self.text_cells = text_cells
        self._parts = data.to_delayed()
        self._types: pa.Schema | None = None
        self.rows_of_parts: list[int] = []

    def schema(self) -> pa.Schema:
        """Names and types, as Dask knows them."""
        import pyarrow as pa

        if self._types is None:
            names = list(self._frame.columns)
            if not all(isinstance(name, str) for name in names):
                raise DataError(f"{self.title}: names of columns must be text")
            example = self._frame._meta_nonempty  # noqa: SLF001 - types without computing anything
            known = run(lambda: pa.Schema.from_pandas(example, preserve_index=False))
            # Dask does not know the categories of a Parquet file before it reads it: they are text.
            unknown = pa.dictionary(pa.int8(), pa.null())
            self._types = pa.schema(
                [field.with_type(pa.string()) if field.type == unknown else field for field in known]
            )
        return self._types

    def part(self, number: int) -> Any:  # noqa: ANN401
        """One partition, not computed yet."""
        import dask

        return dask.delayed(PartitionRows)(self._parts[number], self.schema(), self.title, self.text_cells)

    def __len__(self) -> int:
        return len(self._parts)

    def batches(self, columns: Sequence[str]) -> Any:  # noqa: ANN401
        """The rows of some columns, one partition after the other: for samples."""
        for number in range(len(self)):
            yield from compute(self.part(number)).batches(columns)

    def state(self) -> object:
        """Unknown: a frame does not say where its rows are."""
        return None

    def look(self, profiles: Profiles, words: Words, *, complete: bool) -> None:
        """Look at all partitions where they are, and at each after the one before it."""
        run(check_versions)
        seen: list[Profiles] = compute(
            *[
                task_there(partial(look_at, complete=complete), self.part(number), profiles, words)
                for number in range(len(self))
            ],
            together=True,
        )
        self.rows_of_parts = [next(iter(part.values())).rows for part in seen]
        whole = seen[0]
        for part in seen[1:]:
            whole = merge_profiles(whole, part)
        profiles.update(whole)

    def counter(
        self,
        stream: RowStream,
        codings: Sequence[Coding],
        filled: Words | None,
        cardinalities: NDArray[np.int64],
        jobs: int,
    ) -> DaskCounts:
        """The counter of the partitions where they are."""
        import dask

        work = [
            task_there(code, self.part(number), list(codings), own, filled)
            for number, own in enumerate(self.rows_of_parts)
        ]
        coded = run(lambda: dask.persist(*work))
        return DaskCounts(coded, stream, cardinalities, sum(self.rows_of_parts), jobs)


class DaskCounts(StreamCounts):
    """Counts and moments of a Dask frame; a pass is a round of tasks on coded partitions."""

    def __init__(
        self, coded: Sequence[Any], stream: RowStream, cardinalities: NDArray[np.int64], rows: int, jobs: int
    ) -> None:
        super().__init__(stream, cardinalities, rows, jobs)
        self._coded = coded

    def moments(self, columns: Sequence[int]) -> Moments:
        """Moments of some columns, in one round."""
        self._stream.passes += 1
        made = [task_there(moments, part, list(columns)) for part in self._coded]
        found: Moments = compute(in_a_tree(made, add_moments))
        return found

    def feature_moments(self, schema: Schema, scales: Scales) -> Moments:
        """Moments of the features of all columns, in one round."""
        self._stream.passes += 1
        made = [task_there(feature_moments, part, schema, scales) for part in self._coded]
        found: Moments = compute(in_a_tree(made, add_moments))
        return found

    def _pass_over(self, dense: list[Set], sparse: list[Set]) -> dict[Set, OccupiedCells]:
        """Count some sets in one round."""
        import dask

        columns = sorted({column for each in (*dense, *sparse) for column in each})
        place = {column: k for k, column in enumerate(columns)}
        levels = self._cardinalities[columns]
        own = [tuple(place[column] for column in each) for each in dense]
        asked = CountRequest(
            tuple(columns),
            own,
            [tuple(place[column] for column in each) for each in sparse],
            levels,
            worth_bits(own, levels, self._rows),
            self._rows,
            self._jobs,
        )
        if not columns:
            return {each: self._all_rows() for each in (*dense, *sparse)}
        self._stream.passes += 1
        shared = dask.delayed(asked)
        made = [task_there(count, part, shared) for part in self._coded]
        counted: PartitionCounts = compute(in_a_tree(made, add_counts))
        found = {
            each: OccupiedCells(counts.cells().astype(np.uint16), counts.counts)
            for each, counts in zip(sparse, counted.sparse, strict=True)
        }
        together = asked.round()
        together.absorb(counted.tables)
        for k, each in enumerate(dense):
            table = together.table(k)
            occupied = np.flatnonzero(table)
            found[each] = OccupiedCells(cells_at(occupied, self._cardinalities[list(each)]), table[occupied])
        return found

    def _all_rows(self) -> OccupiedCells:
        """The one cell of a set without columns."""
        return OccupiedCells(np.empty((1, 0), dtype=np.uint16), np.array([self._rows], dtype=np.int64))


def task_there(work: Callable[..., T], *arguments: Any) -> Any:  # noqa: ANN401
    """A task where the partitions are, by a worker of the same version of dagora."""
    import dask

    return dask.delayed(same_version)(__version__, work, *arguments)


def check_versions() -> None:
    """Refuse the workers of a cluster that have another dagora, where Dask computes on a cluster."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)  # the method `get` of a client
    if hasattr(client, "scheduler_info"):
        check_workers(client)


def in_a_tree(tasks: Sequence[Any], add: Callable[[T, T], T]) -> Any:  # noqa: ANN401
    """Sum all parts in one task: neighbours first, by the numbers of the partitions alone."""
    import dask

    level = list(tasks)
    while len(level) > 1:
        pairs = [
            dask.delayed(add)(level[k], level[k + 1]) if k + 1 < len(level) else level[k]
            for k in range(0, len(level), 2)
        ]
        level = pairs
    return level[0]


def compute(*tasks: Any, together: bool = False) -> Any:  # noqa: ANN401
    """The results of tasks; of one task its result itself, unless `together`."""
    import dask

    found = run(lambda: dask.compute(*tasks))
    return list(found) if together else found[0]


def run(work: Callable[[], T]) -> T:
    """Let Dask work; what fails there is told in one line."""
    try:
        return work()
    except DagoraError:
        raise
    except Exception as problem:
        raise DataError(f"{TITLE} cannot be computed: {one_line(problem)}") from None
