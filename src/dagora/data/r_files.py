"""Read a data frame of R from a file: .rds, or .rda and .RData, which may hold several by name."""

from __future__ import annotations

import bz2
import lzma
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from dagora.base.errors import DataError, OptionError
from dagora.base.files import open_unpacked
from dagora.base.phrases import among
from dagora.base.wording import col, option
from dagora.data.columns.column_names import check_names, kept_positions
from dagora.data.labelled_columns import LabelReader, whole_numbers
from dagora.data.r_format import INTEGER, LIST, LOGICAL, MISSING_INTEGER, REAL, STRINGS, RObject, parse_object
from dagora.data.raw_table import RawTable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from dagora.data.columns.reading_options import ReadingOptions

ENDINGS = (".rds", ".rda", ".rdata")
SAVED = (b"RDX2\n", b"RDX3\n")  # what `save` writes before the objects
MISSING_LONG = -(2**63)  # of the package bit64


def read_r_file(file: Path, reading: ReadingOptions) -> RawTable:
    """Read a data frame of R; names of rows are no column."""
    with open_r_file(file) as stream:
        begin = stream.peek(8)[:5]  # type: ignore[attr-defined]
        if begin in SAVED:
            stream.read(5)
        elif reading.table is not None:
            raise OptionError(f"a .rds file holds one object: leave {option('table')} out")
        found = parse_object(stream)
        frame = choose_frame(found.value, reading.table) if begin in SAVED else found
    check_frame(frame)
    names = check_names(frame.texts("names"))
    kept = kept_positions(names, reading)
    labelled = LabelReader(names, reading)
    columns = []
    nominal = []
    for name, column in ((names[place], frame.value[place]) for place in kept):
        columns.append(labelled.read(name, column_of(name, column), labels_of(column)))
        if column.inherits("factor") and not column.inherits("ordered"):
            nominal.append(name)
    return RawTable(
        [names[place] for place in kept], columns, notes=labelled.notes, nominal=(*nominal, *labelled.nominal)
    )


def open_r_file(file: Path) -> BinaryIO:
    """Open a file that R may have compressed; one that unpacks to far more than its size is refused."""
    with file.open("rb") as handle:
        begin = handle.read(6)
    if begin.startswith(b"\x1f\x8b"):
        return open_unpacked(file, error=DataError)
    if begin.startswith(b"BZh"):
        return open_unpacked(file, error=DataError, opener=bz2.open)
    if begin.startswith(b"\xfd7zXZ"):
        return open_unpacked(file, error=DataError, opener=lzma.open)
    return file.open("rb")


def choose_frame(saved: Sequence[tuple[str | None, RObject]], name: str | None) -> RObject:
    """The data frame of this name; the only one where no name is given."""
    frames = {str(tag): each for tag, each in saved or () if each.inherits("data.frame")}
    if not frames:
        raise DataError("there is no data frame in it: in R, as.data.frame makes one")
    if name is None and len(frames) > 1:
        raise OptionError(f"it holds several data frames: choose one with {option('table')}; {among(frames)}")
    if name is not None and name not in frames:
        raise OptionError(f"there is no data frame '{name}' in it: {among(frames)}")
    return frames[name or next(iter(frames))]


def check_frame(found: RObject) -> None:
    """Refuse what is no data frame, and one that is damaged."""
    if found.kind != LIST or not found.inherits("data.frame"):
        raise DataError("it holds no data frame of R: in R, saveRDS(as.data.frame(data), file) makes one")
    if len(found.texts("names")) != len(found.value):
        raise DataError("the file is damaged: its columns and names differ in number")
    lengths = {len(column.value) for column in found.value if column.value is not None}
    if len(lengths) > 1:
        raise DataError("the file is damaged: its columns differ in length")


def labels_of(column: RObject) -> dict[Any, str]:
    """Labels of values, as the package haven keeps those of Stata and SPSS."""
    labels = column.attributes.get("labels")
    if labels is None or labels.kind not in (INTEGER, REAL, STRINGS):
        return {}
    pairs = zip(labels.value, labels.texts("names"), strict=False)
    if labels.kind == STRINGS:
        return dict(pairs)
    return {float(value): label for value, label in pairs if not np.isnan(value)}


def column_of(name: str, column: RObject) -> pa.ChunkedArray:
    """A column of a data frame."""
    import pyarrow as pa

    if column.kind not in (LOGICAL, INTEGER, REAL, STRINGS) or "dim" in column.attributes:
        raise DataError(
            f"{col(name)} holds lists or other objects of R, neither numbers nor text: leave it out "
            f"({option('drop', name)})"
        )
    if column.kind == STRINGS:
        return pa.chunked_array([pa.array(column.value, pa.string())])
    values = np.asarray(column.value)
    if column.inherits("factor"):
        return factor_of(name, values, column.texts("levels"))
    if column.kind == LOGICAL:
        return pa.chunked_array([pa.array(values.astype(np.bool_), mask=values == MISSING_INTEGER)])
    if column.inherits("integer64"):
        whole = values.astype(np.float64).view(np.int64)
        return pa.chunked_array([pa.array(whole, mask=whole == MISSING_LONG)])
    missing = np.isnan(values) if column.kind == REAL else values == MISSING_INTEGER
    numbers = pa.chunked_array([pa.array(values.astype(np.float64), mask=missing)])
    if column.inherits("Date") or column.inherits("POSIXct"):
        return moments_of(numbers, 86_400.0 if column.inherits("Date") else 1.0)
    return whole_numbers(numbers)


def factor_of(name: str, codes: np.ndarray[Any, Any], levels: list[str]) -> pa.ChunkedArray:
    """Codes from 1 on, with their levels in the order that R has."""
    import pyarrow as pa

    places = codes.astype(np.int64)
    missing = places == MISSING_INTEGER
    if ((places < 1) | (places > len(levels)))[~missing].any():
        raise DataError(f"the file is damaged: {col(name)} has a level that is not listed")
    indices = pa.array(np.where(missing, 0, places - 1).astype(np.int32), mask=missing)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, pa.array(levels), ordered=True)])


def moments_of(numbers: pa.ChunkedArray, seconds: float) -> pa.ChunkedArray:
    """Numbers of so many seconds each, since 1970, as moments."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.round(pc.multiply(numbers, 1e6 * seconds)).cast(pa.int64()).cast(pa.timestamp("us"))
