"""Files of other programs, parsed in a process of their own: spreadsheets, and files of Stata, SPSS and R."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.data import r_files, spreadsheets, statistics_files
from dagora.data.columns.missing import na_entries
from dagora.data.columns.reading_options import NameList, ReadingOptions
from dagora.data.file_limits import Limits
from dagora.data.file_process import damaged_file, file_process
from dagora.data.raw_table import RawTable

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.file_questions import Answer, Question

# What such parsers look at of the reading options: names of columns, and the rest.
LISTS = ("drop", "discrete", "continuous")


def read_program_file(file: Path, ending: str, reading: ReadingOptions) -> RawTable:
    """Read a spreadsheet, or a file of Stata, SPSS or R."""
    import pyarrow as pa

    memory = Limits.of(file).program_memory
    with file_process() as process:
        said = process.ask("table", file, memory=memory, ending=ending, reading=reading_json(reading))
        schema, batches = process.rows()
        columns = pa.Table.from_batches(at_most(batches, memory), schema).columns
    if len(columns) != len(said["names"]):
        raise damaged_file("its parser names other columns than it hands out")
    reading.check_width(len(columns))
    return RawTable(
        said["names"],
        columns,
        said["text_cells"],
        said["words_nulled"],
        notes=tuple(said["notes"]),
        nominal=tuple(said["nominal"]),
    )


def at_most(batches: Iterator[pa.RecordBatch], memory: int) -> Iterator[pa.RecordBatch]:
    """The rows of a table that the parser has had in this memory as a whole."""
    total = 0
    for batch in batches:
        total += batch.nbytes
        if total > memory:
            raise damaged_file("it has more rows than fit into its parser's memory")
        yield batch


def reading_json(reading: ReadingOptions) -> dict[str, Any]:
    """The reading options that a parser needs, as JSON holds them."""
    na = reading.na
    if isinstance(na, Mapping):
        na = {name: [str(word) for _, word in na_entries({name: na[name]}, None)] for name in na}
    return {
        "table": reading.table,
        "na": na if isinstance(na, str | dict) else list(na),
        "numbers": list(reading.numbers),
        "numbers_for": reading.numbers_for,
        "only": None if reading.only is None else list(reading.only),
        **{name: [[text, isinstance(text, NameList)] for text in getattr(reading, name)] for name in LISTS},
    }


def as_reading(content: dict[str, Any]) -> ReadingOptions:
    """The reading options that `reading_json` gave.

    >>> found = as_reading(reading_json(ReadingOptions(drop=[NameList("a,b")], na={"age": [-1]}, only={"c"})))
    >>> found.drop, type(found.drop[0]).__name__, found.na, found.only
    (('a,b',), 'NameList', {'age': ['-1']}, ['c'])
    """
    lists = {name: [NameList(text) if listed else text for text, listed in content[name]] for name in LISTS}
    return ReadingOptions(**{**content, **lists})


def answer_table(question: Question) -> Answer:
    """Parse such a file; this is the other end."""
    import pyarrow as pa

    file, ending = Path(question["file"]), question["ending"]
    reading = as_reading(question["reading"])
    if ending in spreadsheets.ENDINGS:
        raw = spreadsheets.read_sheet(file, reading)
    elif ending in statistics_files.ENDINGS:
        raw = statistics_files.read_statistics_file(file, ending, reading)
    else:
        raw = r_files.read_r_file(file, reading)
    table = pa.table(raw.columns, names=[str(place) for place in range(len(raw.columns))])
    about = {
        "names": raw.names,
        "text_cells": raw.text_cells,
        "words_nulled": raw.words_nulled,
        "notes": raw.notes,
        "nominal": raw.nominal,
    }
    return about, (table.schema, iter(table.to_batches()))
