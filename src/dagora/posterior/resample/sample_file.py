"""Samples on disk, so that a run can continue where it stopped: the graphs learned so far.

A sample does not depend on the others, so a file may hold any of them, and a longer run continues a shorter
one. A run continues only from a file with the same settings and the same data.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import FormatError, OptionError
from dagora.base.files import PathLike, write_whole
from dagora.base.parsing import parse_json
from dagora.data.incomplete import IncompleteTable
from dagora.data.table import Table
from dagora.graph.bits import Rows, pack, unpack, words_for
from dagora.graph.topological import topological_order
from dagora.posterior.chains.checkpoint import check_place, refusing_other_files
from dagora.posterior.resample.one_sample import SampleGraph
from dagora.posterior.resample.series_blocks import panel_marks
from dagora.stats.designed import DesignStatistics, rows_with_weights
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.windows import panel_behind

VERSION = "dagora samples 1"
SAVE_EVERY = 10.0  # seconds
NAMES = ("version", "settings", "numbers", "marks", "refused")


class SampleFile:
    """The file of one run; without a path, nothing is read or written."""

    def __init__(self, path: PathLike | None, settings: Mapping[str, object]) -> None:
        self.path = path
        self._settings = json.loads(json.dumps(settings))
        self._saved = time.monotonic()
        if path is not None:
            check_place(path)

    def read(self, nodes: int, *, directed: bool) -> dict[int, SampleGraph]:
        """The samples of the file, by number; none where there is no file. Another run's is refused.

        They are graphs over so many `nodes`: DAGs, or with `directed` unset classes of them.
        """
        if self.path is None or not Path(self.path).exists():
            return {}
        with (
            refusing_other_files(self.path),
            np.load(io.BytesIO(Path(self.path).read_bytes()), allow_pickle=False) as content,
        ):
            version, settings, numbers, marks, refused = (content[name] for name in NAMES)
            theirs = dict(parse_json(str(settings), error=OptionError))
        if str(version) != VERSION:
            raise FormatError(f"{self.path}: is a file of another version of dagora; name another file")
        for which, value in self._settings.items():
            if theirs.get(which) != value:
                what = "other data" if which == "data" else f"{which} = {theirs.get(which)}, not {value}"
                raise OptionError(f"the file {self.path} was made with {what}: name another file")
        with refusing_other_files(self.path):
            check_samples(numbers, marks, refused, nodes, directed=directed)
        return {
            int(number): SampleGraph(None, str(why)) if why else SampleGraph(rows)
            for number, rows, why in zip(numbers, marks, refused, strict=True)
        }

    def save(self, found: Mapping[int, SampleGraph], nothing: Rows, *, last: bool = False) -> None:
        """Write the samples in one piece, if it is time for it or the `last` time.

        `nothing` stands for the graph of a sample that could not be learned from.
        """
        if self.path is None or not found or not (last or time.monotonic() - self._saved > SAVE_EVERY):
            return
        numbers = sorted(found)
        content = io.BytesIO()
        arrays = (
            np.array(VERSION),
            np.array(json.dumps(self._settings, sort_keys=True)),
            np.array(numbers, dtype=np.int64),
            np.stack([nothing if (rows := found[k].marks) is None else rows for k in numbers]),
            np.array([found[k].refused for k in numbers]),
        )
        np.savez(content, **dict(zip(NAMES, arrays, strict=True)))  # type: ignore[arg-type]
        write_whole(self.path, content.getvalue())
        self._saved = time.monotonic()


def check_samples(
    numbers: NDArray[Any], marks: NDArray[Any], refused: NDArray[Any], nodes: int, *, directed: bool
) -> None:
    """Raise ValueError unless these are samples as `save` writes them."""
    count = len(numbers)
    if numbers.dtype != np.int64 or numbers.shape != (count,) or refused.shape != (count,):
        raise ValueError("numbers and reasons are of other kinds")
    if refused.dtype.kind != "U" or len(np.unique(numbers)) < count or (numbers < 0).any():
        raise ValueError("numbers are not those of samples, or reasons are no text")
    if marks.dtype != np.uint64 or marks.shape != (count, nodes, words_for(nodes)):
        raise ValueError("graphs are of another size")
    for rows in marks:
        matrix = unpack(rows, nodes).T
        arrows = matrix if directed else matrix & ~matrix.T
        if not np.array_equal(pack(matrix.T), rows) or matrix.diagonal().any():
            raise ValueError("a mark belongs to no pair of nodes")
        if topological_order(arrows) is None:
            raise ValueError("arrows form a cycle")


def fingerprint(statistics: Statistics) -> str:
    """Fingerprint of the rows: names, levels, cells, missing values, and interventions."""
    digest = hashlib.sha256()
    panel = panel_behind(statistics)
    if panel is not None:
        digest.update(panel_marks(panel))
    if isinstance(statistics, IncompleteStatistics):
        table: Table | IncompleteTable = statistics.table
    else:
        table, weights = rows_with_weights(statistics)
        if weights is not None:
            digest.update(weights.tobytes())
    if isinstance(statistics, DesignStatistics) and statistics.designed.design.groups is not None:
        digest.update(statistics.designed.design.groups.tobytes())
    for variable, column in zip(table.schema, table.columns, strict=True):
        digest.update(repr((variable.name, variable.kind.value, variable.levels)).encode())
        digest.update(np.ascontiguousarray(column).tobytes())
    if isinstance(statistics, IncompleteStatistics):
        digest.update(np.ascontiguousarray(statistics.table.seen).tobytes())
    if isinstance(statistics, InterventionalStatistics):
        digest.update(repr(statistics.interventions.regimes).encode())
        digest.update(statistics.interventions.of_row.tobytes())
    return digest.hexdigest()
