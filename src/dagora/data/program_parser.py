"""Files of other programs, parsed in a process of their own: spreadsheets, and files of Stata, SPSS and R."""

from __future__ import annotations

import base64
import pickle
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.base.events import Budget
from dagora.data import r_files, spreadsheets, statistics_files
from dagora.data.columns.reading_options import always, welcome
from dagora.data.file_process import file_process
from dagora.data.raw_table import RawTable

if TYPE_CHECKING:
    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.data.file_process import Answer, Question

# Memory to parse a file, and for each of its bytes: sheets are packed, and a cell is an object of Python.
MEMORY, MEMORY_PER_BYTE = 1 << 30, 100


def read_program_file(file: Path, ending: str, reading: ReadingOptions) -> RawTable:
    """Read a spreadsheet, or a file of Stata, SPSS or R."""
    import pyarrow as pa

    with file_process() as process:
        said = process.ask(
            "table",
            file,
            memory=MEMORY + MEMORY_PER_BYTE * file.stat().st_size,
            ending=ending,
            reading=base64.b64encode(pickle.dumps(that_travel(reading))).decode(),
        )
        schema, batches = process.rows()
        columns = pa.Table.from_batches(batches, schema).columns
    reading.check_width(len(columns))
    return RawTable(said["names"], columns, said["text_cells"], said["words_nulled"], tuple(said["notes"]))


def that_travel(reading: ReadingOptions) -> ReadingOptions:
    """Reading options without what belongs to this process."""
    return replace(
        reading,
        wanted=frozenset(),
        levels={},
        numbers=frozenset(reading.numbers),
        only=None if reading.only is None else frozenset(reading.only),
        clock=Budget(),
        check_width=welcome,
        why_not_model=always,
    )


def answer_table(question: Question) -> Answer:
    """Parse such a file; this is the other end."""
    import pyarrow as pa

    file, ending = Path(question["file"]), question["ending"]
    reading = pickle.loads(base64.b64decode(question["reading"]))  # noqa: S301 (of the process that asks)
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
    }
    return about, (table.schema, iter(table.to_batches()))
