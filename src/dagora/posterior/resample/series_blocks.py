"""Blocks of steps drawn anew from series: what follows each other in a block did so in the series.

Windows that are drawn one by one would lose how much neighbours resemble each other, and frequencies would
be too sure of themselves. So windows are drawn in blocks of neighbours (Künsch 1989: moving blocks). A
block begins at any window and goes on from the first one of its run of rows where that ends (Politis &
Romano 1992: circular blocks), so that every window is drawn equally often on average. No window reaches
over the joint of two blocks: each has the earlier steps of its own windows. Half of the rows without
replacement are half of the blocks that a random cut makes of each run.

A sample is a panel whose runs are the blocks, so that every method on series learns from it as from any
other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import amount
from dagora.base.wording import option
from dagora.data.incomplete import IncompleteTable
from dagora.data.series import Panel, in_row_order
from dagora.learners.request import PreparedRequest
from dagora.stats.lagged import series_statistics
from dagora.stats.statistics import Statistics
from dagora.stats.windows import Windows, panel_behind, windows_behind

Positions = NDArray[np.int64]
# A block has as many windows as this times the cube root of all, which grows as the best length does.
SCALE = 1.75


@dataclass(frozen=True)
class SeriesBlocks:
    """The way to draw blocks of `length` windows, each with `lags` steps before its first."""

    way: str
    length: int
    lags: int

    @classmethod
    def of(cls, prepared: PreparedRequest, way: str, length: int | None) -> SeriesBlocks | None:
        """The blocks for a request; None where its rows are no series."""
        panel = panel_behind(prepared.source.statistics)
        if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 1):
            raise OptionError(option="block", value=length, must="be a whole number, 1 or more")
        if panel is None or prepared.lags is None:
            if length is not None:
                raise OptionError(f"{option('block')} goes with {option('time')}, which says when a row was")
            return None
        windows = len(Windows.of(panel, prepared.lags).ends)
        if windows < 2 and way != "rows":
            raise DataError(f"half of {amount(windows, 'window')} is none: more steps are needed")
        return cls(way, length or usual_length(windows, prepared.lags), prepared.lags)

    @property
    def in_words(self) -> str:
        """The windows of a sample, in words."""
        amounts = {
            "rows": ("as many windows", "with"),
            "halves": ("half of the windows", "without"),
            "half-rows": ("half as many windows", "with"),
        }
        many, replacement = amounts[self.way]
        return f"{many}, drawn in blocks of {self.length} steps {replacement} replacement"

    def draw(self, statistics: Statistics, random: np.random.Generator) -> Statistics:
        """Statistics of a sample."""
        panel = panel_behind(statistics)
        assert panel is not None
        drawn = self.draw_panel(panel, random)
        if windows_behind(statistics) is None:
            return series_statistics(drawn)
        return Windows.of(drawn, self.lags).statistics()

    def draw_panel(self, panel: Panel, random: np.random.Generator) -> Panel:
        """A panel whose runs of rows are the blocks of a sample.

        >>> from dagora.data.table import Table
        >>> rows = Table.from_numpy([[k, k] for k in range(9)], ["t", "x"], continuous=["all"])
        >>> drawn = SeriesBlocks("rows", 3, 1).draw_panel(Panel.of_table(rows, "t"), np.random.default_rng(2))
        >>> int(drawn.lengths.sum()) - len(drawn.lengths)  # windows
        8
        """
        long, _ = panel.longer_than(self.lags)
        windows = [(int(panel.starts[s]) + self.lags, int(panel.starts[s + 1])) for s in long.tolist()]
        total = sum(stop - first for first, stop in windows)
        wanted = total if self.way == "rows" else total // 2
        spans = (
            self._some(windows, wanted, random)
            if self.way == "halves"
            else self._any(windows, wanted, random)
        )
        blocks = [np.arange(first - self.lags, stop, dtype=np.int64) for first, stop in spans]
        rows = np.concatenate(blocks)
        starts = np.cumsum([0, *map(len, blocks)]).astype(np.int64)
        runs = np.searchsorted(panel.starts, [block[0] for block in blocks], side="right") - 1
        return replace(
            panel,
            table=in_row_order(panel.table, rows, None),
            starts=starts,
            labels=tuple(panel.labels[run] for run in runs.tolist()),
            warnings=(),
            steps=None if panel.steps is None else panel.steps[rows],
        )

    def _any(
        self, windows: list[tuple[int, int]], wanted: int, random: np.random.Generator
    ) -> Iterator[tuple[int, int]]:
        """Blocks that begin at any window, until there are enough; at the end of a run its start follows."""
        sizes = np.array([stop - first for first, stop in windows])
        while wanted > 0:
            run = int(random.choice(len(windows), p=sizes / sizes.sum()))
            first, stop = windows[run]
            begin = int(random.integers(first, stop))
            size = min(self.length, wanted, stop - first)
            wanted -= size
            yield begin, min(begin + size, stop)
            if begin + size > stop:
                yield first, first + begin + size - stop

    def _some(
        self, windows: list[tuple[int, int]], wanted: int, random: np.random.Generator
    ) -> Iterator[tuple[int, int]]:
        """Different blocks out of those that a random cut makes, until there are enough."""
        cut: list[tuple[int, int]] = []
        for first, stop in windows:
            offset = int(random.integers(1, self.length + 1))
            edges = [first, *range(first + offset, stop, self.length), stop]
            cut += [(a, b) for a, b in itertools.pairwise(edges) if b > a]
        for place in random.permutation(len(cut)).tolist():
            if wanted <= 0:
                return
            first, stop = cut[place]
            stop = min(stop, first + wanted)
            wanted -= stop - first
            yield first, stop


def usual_length(windows: int, lags: int) -> int:
    """The number of windows of a block where nobody says another.

    >>> usual_length(1000, 1), usual_length(20, 6)
    (18, 7)
    """
    return max(lags + 1, math.ceil(SCALE * round(math.cbrt(windows), 9)))


def same_panel(panel: Panel, windows: Windows | None) -> Statistics:
    """Statistics of the same series that have counted nothing yet."""
    return series_statistics(panel) if windows is None else windows.statistics()


def panel_marks(panel: Panel) -> bytes:
    """Bytes that tell where runs of rows begin and which cells were seen, for a fingerprint."""
    seen = panel.table.seen.tobytes() if isinstance(panel.table, IncompleteTable) else b""
    return np.ascontiguousarray(panel.starts).tobytes() + seen
